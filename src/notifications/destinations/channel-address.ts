import { invalidParameter } from '../../platform/rejection.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import type { DestinationSecrets } from '../channels/channel.ts';
import { readAuthorization } from '../channels/http-request.ts';
import { urlProblem } from '../sending/check-url.ts';
import type { DestinationAddress } from './destination-input.ts';

/** What the service allows. */
export interface AddressRules {
  /** DBVITALS_ALLOW_PRIVATE_DESTINATIONS: whether receivers may be at private addresses, and `http:`. */
  allowPrivate: boolean;
}

/** Where PagerDuty takes events, unless a URL names its European service or a compatible one. */
const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';

const LONGEST_URL = 2_000;

/** What the URL of a channel looks like. Servers that are compatible with a vendor's have other hosts and paths. */
const EXAMPLES: Readonly<Record<Exclude<Channel, 'email'>, string>> = {
  webhook: 'https://hooks.example.com/dbvitals',
  slack: 'https://hooks.slack.com/services/T000/B000/XXXX',
  mattermost: 'https://mattermost.example.com/hooks/xxxx',
  teams: 'https://example.webhook.office.com/workflows/xxxx',
  discord: 'https://discord.com/api/webhooks/0000/xxxx',
  pagerduty: PAGERDUTY_URL,
  alertmanager: 'https://alertmanager.example.com',
  heartbeat: 'https://heartbeat.example.com/ping/xxxx',
  log_http: 'https://siem.example.com/dbvitals',
  splunk_hec: 'https://splunk.example.com:8088',
  sentinel:
    'https://NAME.REGION-1.ingest.monitor.azure.com/dataCollectionRules/dcr-0000/streams/Custom-DbvitalsActivity',
  elastic: 'https://elastic.example.com:9200/logs-dbvitals.activity-default',
  otlp_logs: 'https://otel.example.com:4318/v1/logs',
  syslog: 'syslog+tls://logs.example.com:6514',
  s3: 'https://bucket.s3.eu-central-1.amazonaws.com/dbvitals',
};

// These vendors answer on other paths too, but never take a message there.
const VENDOR_PATHS: readonly { host: RegExp; path: RegExp; channel: Channel }[] = [
  { channel: 'slack', host: /^hooks\.slack(?:-gov)?\.com$/, path: /^\/(?:services|workflows|triggers)\/./ },
  { channel: 'discord', host: /(?:^|\.)discord(?:app)?\.com$/, path: /^\/api\/(?:v\d+\/)?webhooks\/./ },
];

/** The channels whose URL has a path: without one it can't be right. */
const WITH_PATH: readonly Channel[] = ['slack', 'mattermost', 'teams', 'discord', 'elastic'];

/** The URL to store. Throws a {@link Rejection} that says in one sentence what is wrong with it. */
function requireUrl(channel: Exclude<Channel, 'email'>, text: string, rules: AddressRules): string {
  const example = EXAMPLES[channel];
  const reject = (sentence: string) => invalidParameter('url', sentence);
  if (text.length > LONGEST_URL) throw reject(`The URL must have at most ${LONGEST_URL} characters.`);
  if (/[\s\p{Cc}\p{Cs}]/u.test(text) || !URL.canParse(text))
    throw reject(`This is not a URL: enter one such as ${example}.`);
  const problem = urlProblem(text, rules.allowPrivate, channel === 'syslog' ? 'syslog' : 'http');
  if (problem !== null) throw reject(problem);
  const url = new URL(text);
  if (text.includes('#')) throw reject('Remove the part after # from the URL: it is never sent.');
  if (channel === 's3' && !/^[\w!.*'()=/~-]*$/.test(url.pathname + url.search))
    throw reject("The bucket and the prefix may have letters, digits and !-_.*'()=~ only, without a query.");
  const vendor = VENDOR_PATHS.find((known) => known.channel === channel && known.host.test(url.hostname));
  const lacksPath = WITH_PATH.includes(channel) && url.pathname === '/' && url.search === '';
  if (channel === 'sentinel' && !/^\/dataCollectionRules\/[\w-]+\/streams\/[\w-]+$/.test(url.pathname))
    throw reject(`Enter the URL with the data collection rule and the stream, such as ${example}.`);
  if (lacksPath && channel === 'elastic')
    throw reject(`Enter the URL with the data stream or the index, such as ${example}.`);
  if (lacksPath || (vendor && !vendor.path.test(url.pathname)))
    throw reject(`Enter the whole URL that ${NAMES[channel]} shows, such as ${example}.`);
  return url.href;
}

const NAMES: Readonly<Partial<Record<Channel, string>>> = {
  slack: 'Slack',
  mattermost: 'Mattermost',
  teams: 'Microsoft Teams',
  discord: 'Discord',
};

/** The URL of a channel that has a usual one; null = it must be entered. */
export function usualUrl(channel: Channel): string | null {
  return channel === 'pagerduty' ? PAGERDUTY_URL : null;
}

/** PagerDuty's integration key. Throws a {@link Rejection}. */
function requireRoutingKey(text: string): string {
  const key = text.trim();
  // 32 characters, mostly hexadecimal; keys of newer integrations have other letters too.
  if (/^[0-9A-Za-z]{32}$/.test(key)) return key;
  throw invalidParameter(
    'routing_key',
    'A PagerDuty integration key has 32 letters and digits: copy it from the service, under Integrations, Events API v2.',
  );
}

/** The value of an `Authorization` header, or a line with the header of a key. Throws a {@link Rejection}. */
function requireAuthorization(channel: Channel, text: string): string {
  if (channel === 's3' && !/^[\w.:@-]{3,128}:[\x21-\x39\x3b-\x7e]{8,256}$/.test(text))
    throw invalidParameter(
      'authorization',
      'Enter the access key as ACCESS_KEY_ID:SECRET_ACCESS_KEY, without a colon in the secret.',
    );
  if (channel === 'sentinel' && !/^[\w.-]{3,64}:[\w-]{8,64}:[\x21-\x7e]{8,256}$/.test(text))
    throw invalidParameter(
      'authorization',
      'Enter the app registration as TENANT_ID:CLIENT_ID:CLIENT_SECRET.',
    );
  if (!/^[\x21-\x7e](?:[\x20-\x7e]{0,1998}[\x21-\x7e])?$/.test(text))
    throw invalidParameter(
      'authorization',
      'Enter the value of the Authorization header, such as Bearer xxxx: one line of ASCII characters.',
    );
  // A header of another purpose could change what the request says.
  if (!/(?:^|-)(?:key|token|auth|authorization|secret)$/.test(readAuthorization(text)[0]))
    throw invalidParameter(
      'authorization',
      'A header of another name must be one of a key or a token, such as DD-API-KEY: xxxx.',
    );
  return text;
}

/** The secrets that an address gives, without those of signing. Throws a {@link Rejection}. */
export function secretsOf(
  channel: Channel,
  { url, routingKey, authorization }: DestinationAddress,
  rules: AddressRules,
): DestinationSecrets {
  const address = url ?? usualUrl(channel);
  return {
    ...(address !== null && channel !== 'email' && { url: requireUrl(channel, address, rules) }),
    ...(routingKey !== undefined && { routingKey: requireRoutingKey(routingKey) }),
    ...(authorization && { authorization: requireAuthorization(channel, authorization) }),
  };
}
