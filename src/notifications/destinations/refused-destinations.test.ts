import { expect, test } from 'vitest';
import { Rejection } from '../../platform/rejection.ts';
import { CHANNELS } from '../../vocabulary/channels.ts';
import { secretsOf } from './channel-address.ts';
import {
  type NewDestination,
  requireChannelSettings,
  requireFields,
  requireFilters,
} from './destination-input.ts';
import { requireRecipients } from './recipient-address.ts';

const check = (wanted: Omit<NewDestination, 'name'>, allowPrivate = false) => {
  const given = { name: 'X', ...wanted };
  requireFields(given.channel, given, true);
  requireChannelSettings(given);
  requireFilters(given.channel, given);
  return secretsOf(given.channel, given, { allowPrivate });
};

const webhook = (url: string) => ({ channel: 'webhook' as const, url });
const hook = webhook('https://hooks.example.com/');
const ROUTING_KEY = 'a'.repeat(32);
const RULE = 'https://a.eastus-1.ingest.monitor.azure.com/dataCollectionRules/dcr-1/streams/Custom-A';
const BUCKET = 'https://logs.s3.eu-central-1.amazonaws.com/audit';
const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE:unspoken-secret/+key';

test.each<[Omit<NewDestination, 'name'>, string, RegExp]>([
  [{ channel: 'webhook' }, 'url', /needs a URL/],
  [webhook('hooks.example.com'), 'url', /not a URL/],
  [webhook('https://hooks.example.com/a b'), 'url', /not a URL/],
  [webhook('https://hooks.example.com/a\nb'), 'url', /not a URL/],
  [webhook(`https://hooks.example.com/${'a'.repeat(2_000)}`), 'url', /at most 2000/],
  [webhook('ftp://hooks.example.com/'), 'url', /begin with https/],
  [webhook('javascript:alert(1)'), 'url', /begin with https/],
  [webhook('http://hooks.example.com/'), 'url', /DBVITALS_ALLOW_PRIVATE_DESTINATIONS/],
  [webhook('https://ada:unspoken@hooks.example.com/'), 'url', /user name or password/],
  [webhook('https://hooks.example.com/#'), 'url', /after #/],
  [webhook('https://127.0.0.1/'), 'url', /private address/],
  [webhook('https://2130706433/'), 'url', /private address/],
  [webhook('https://[::ffff:10.0.0.1]/'), 'url', /private address/],
  [webhook('https://169.254.169.254/'), 'url', /metadata/],
  [{ channel: 'slack', url: 'https://hooks.slack.com/' }, 'url', /whole URL that Slack shows/],
  [{ channel: 'slack', url: 'https://hooks.slack.com/help' }, 'url', /whole URL that Slack shows/],
  [{ channel: 'discord', url: 'https://discord.com/channels/1/2' }, 'url', /whole URL that Discord shows/],
  [{ channel: 'mattermost', url: 'https://chat.example.com' }, 'url', /whole URL that Mattermost shows/],
  [{ channel: 'pagerduty' }, 'routing_key', /integration key/],
  [{ channel: 'pagerduty', routingKey: 'R0UTING' }, 'routing_key', /32 letters and digits/],
  [{ channel: 'email' }, 'recipients', /needs recipients/],
  [{ channel: 'email', recipients: [] }, 'recipients', /at least one/],
  [{ channel: 'email', recipients: ['a@b.c'], url: 'https://x.y/' }, 'url', /takes no URL/],
  [{ ...hook, routingKey: ROUTING_KEY }, 'routing_key', /takes no PagerDuty/],
  [{ channel: 'slack', url: 'https://a.b/c', authorization: 'Bearer x' }, 'authorization', /takes no/],
  [{ ...hook, authorization: 'Bearer x\r\nHost: evil' }, 'authorization', /one line/],
  [{ ...hook, kinds: [] }, 'kinds', /at least one/],
  [{ ...hook, kinds: ['test'] }, 'kinds', /Choose kinds from/],
  [{ ...hook, kinds: ['disk.full' as 'test'] }, 'kinds', /Choose kinds from/],
  [{ ...hook, connectionIds: [] }, 'connections', /at least one connection/],
  [{ ...hook, connectionNames: ['\u0007'] }, 'connections', /1 to 200 characters/],
  [{ ...hook, requestsPerSecond: 51 }, 'requests_per_second', /1 to 50/],
  [{ ...hook, method: 'POST' }, 'method', /Only a heartbeat/],
  [{ channel: 'heartbeat', url: 'https://a.b/', kinds: ['alert.triggered'] }, 'kinds', /take no events/],
  [{ channel: 'heartbeat', url: 'https://a.b/', signature: 'hmac' }, 'signature', /Only webhooks/],
  [{ channel: 'syslog', url: 'syslog+tls://a.b', signature: 'hmac' }, 'signature', /Only webhooks/],
  [{ channel: 'syslog', url: 'https://a.b/' }, 'url', /must begin with syslog\+tls/],
  [{ channel: 'syslog', url: 'syslog+tcp://a.b' }, 'url', /only if DBVITALS_ALLOW_PRIVATE_DESTINATIONS/],
  [{ channel: 'log_http', url: 'syslog+tls://a.b' }, 'url', /must begin with https/],
  [{ channel: 'splunk_hec', url: 'https://a.b/' }, 'authorization', /needs an Authorization header/],
  [
    { channel: 'log_http', url: 'https://a.b/', authorization: 'Host: unspoken' },
    'authorization',
    /DD-API-KEY/,
  ],
  [
    { channel: 'log_http', url: 'https://a.b/', authorization: 'Content-Length: 0' },
    'authorization',
    /DD-API-KEY/,
  ],
  [
    { channel: 'log_http', url: 'https://a.b/', authorization: 'DD-API-KEY: x\r\nHost: y' },
    'authorization',
    /one line of ASCII/,
  ],
  [
    { channel: 'elastic', url: 'https://a.b', authorization: 'ApiKey unspoken' },
    'url',
    /with the data stream or the index/,
  ],
  [{ channel: 'elastic', url: 'https://a.b/logs' }, 'authorization', /needs an Authorization header/],
  [{ channel: 'sentinel', url: RULE, authorization: 'Bearer unspoken' }, 'authorization', /TENANT_ID:CLIENT/],
  [{ channel: 'sentinel', url: RULE }, 'authorization', /needs an app registration/],
  [
    { channel: 'sentinel', url: 'https://a.b/x', authorization: 'a.example.com:0123-4567:unspoken-secret' },
    'url',
    /data collection rule and the stream/,
  ],
  [{ channel: 'webhook', url: 'https://a.b/', stream: {} }, 'stream', /sends no log/],
  [{ channel: 's3', url: BUCKET }, 'authorization', /needs an access key/],
  [{ channel: 's3', url: BUCKET, authorization: 'Bearer unspoken' }, 'authorization', /ACCESS_KEY_ID:SECRET/],
  [{ channel: 's3', url: BUCKET, authorization: 'AKIA/x:unspoken-secret' }, 'authorization', /ACCESS_KEY_ID/],
  [{ channel: 's3', url: `${BUCKET}?x=1`, authorization: ACCESS_KEY }, 'url', /without a query/],
  [{ channel: 's3', url: `${BUCKET}/%zz`, authorization: ACCESS_KEY }, 'url', /letters, digits/],
  [{ channel: 's3', url: `${BUCKET}/a+b`, authorization: ACCESS_KEY }, 'url', /letters, digits/],
  [{ channel: 's3', url: 'http://10.0.0.1/b', authorization: ACCESS_KEY }, 'url', /ALLOW_PRIVATE/],
  [{ channel: 's3', url: 'https://10.0.0.1/b', authorization: ACCESS_KEY }, 'url', /private address/],
  [{ channel: 's3', url: BUCKET, authorization: ACCESS_KEY, region: 'eu central' }, 'region', /word such as/],
  [{ channel: 's3', url: BUCKET, authorization: ACCESS_KEY, encryption: 'AES' }, 'encryption', /AES256/],
  [
    { channel: 's3', url: BUCKET, authorization: ACCESS_KEY, encryption: 'arn:aws:kms:a\r\nx: y' },
    'encryption',
    /ARN/,
  ],
  [
    { channel: 's3', url: BUCKET, authorization: ACCESS_KEY, signature: 'hmac' },
    'signature',
    /Only webhooks/,
  ],
  [{ ...hook, region: 'eu-central-1' }, 'region', /Only s3/],
  [{ ...hook, encryption: 'AES256' }, 'encryption', /Only s3/],
  [{ channel: 'otlp_logs', url: 'https://a.b/', shape: 'array' }, 'shape', /Only log_http/],
  [{ channel: 'otlp_logs', url: 'https://a.b/', kinds: ['alert.triggered'] }, 'kinds', /take no events/],
])('%j is refused: %s', (wanted, parameter, said) => {
  const refuse = () => check(wanted);
  expect(refuse).toThrow(said);
  expect(refuse).toThrow(Rejection);
  expect(refuse).toThrow(expect.objectContaining({ parameter, code: 'invalid_parameter' }));
  expect(refuse).not.toThrow(/unspoken|hooks\.example\.com\/a/);
});

test('compatible servers are accepted, and private ones if the operator allows them', () => {
  const slack = 'https://chat.example.com/hooks/abc';
  expect(check({ channel: 'slack', url: slack })).toEqual({ url: slack });
  expect(check({ channel: 'pagerduty', routingKey: ` ${ROUTING_KEY}\n` })).toEqual({
    url: 'https://events.pagerduty.com/v2/enqueue',
    routingKey: ROUTING_KEY,
  });
  expect(check(webhook('http://10.0.0.7:8080/hook'), true)).toEqual({ url: 'http://10.0.0.7:8080/hook' });
  expect(CHANNELS).toHaveLength(16);
});

test.each([
  ['ada'],
  ['ada@'],
  ['@example.com'],
  ['ada@example.com, eve@example.com'],
  ['ada@example.com\nBcc: eve@example.com'],
  ['"ada b"@example.com'],
  ['ada@[10.0.0.1]'],
  ['ada <ada@example.com>'],
  ['ada@exämple.com'],
  [`${'a'.repeat(65)}@example.com`],
])('%j is no recipient', (email) => {
  expect(() => requireRecipients([email])).toThrow(/as an e-mail address/);
});

test('at most 20 recipients, each once', () => {
  const many = Array.from({ length: 21 }, (_, at) => `ada${at}@example.com`);
  expect(() => requireRecipients(many)).toThrow(/at most 20/);
  expect(() => requireRecipients(many.slice(1))).not.toThrow();
  expect(() => requireRecipients(['ada@example.com', 'ADA@example.com'])).toThrow(/once/);
});
