import { expect, test } from 'vitest';
import type { OutgoingHttp } from '../../sending/outgoing.ts';
import { exampleDestination } from '../message-event-fixture.ts';
import { sentinel } from './sentinel.ts';

const opened = (origin: string) =>
  exampleDestination({
    channel: 'sentinel',
    secrets: {
      url: `${origin}/dataCollectionRules/dcr-1/streams/Custom-DbvitalsActivity`,
      authorization: 'contoso.example.com:0f0e-client:se:cr+et',
    },
    settings: {},
  });

test.each([
  ['https://a-1.eastus-1.ingest.monitor.azure.com', 'https://login.microsoftonline.com', 'azure.com'],
  ['https://a.usgovva-1.ingest.monitor.azure.us', 'https://login.microsoftonline.us', 'azure.us'],
  ['https://a.chinaeast2-1.ingest.monitor.azure.cn', 'https://login.partner.microsoftonline.cn', 'azure.cn'],
  // The secret goes to no other server than it was entered for.
  ['https://sentinel.example.com', 'https://sentinel.example.com', 'azure.com'],
  [
    'https://ingest.monitor.azure.com.example.com',
    'https://ingest.monitor.azure.com.example.com',
    'azure.com',
  ],
])('the app of %s signs in at %s', (origin, login, domain) => {
  const { url, body } = sentinel.token?.(opened(origin)).request ?? ({} as OutgoingHttp);
  expect(url).toBe(`${login}/contoso.example.com/oauth2/v2.0/token`);
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
    grant_type: 'client_credentials',
    client_id: '0f0e-client',
    client_secret: 'se:cr+et',
    scope: `https://monitor.${domain}//.default`,
  });
});

test.each<[answer: string, read: object]>([
  ['{"token_type":"Bearer","expires_in":3599,"access_token":"eyJ0"}', { token: 'eyJ0', seconds: 3_599 }],
  ['{"access_token":"eyJ0"}', { token: 'eyJ0', seconds: 0 }],
  ['{"access_token":"a\\r\\nHost: b","expires_in":1}', { problem: 'the answer has no token' }],
  [
    '{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret <b>"}',
    { problem: 'invalid_client, AADSTS7000215' },
  ],
  ['{"error":"<script>"}', { problem: 'the answer has no token' }],
  ['<!doctype html>', { problem: 'the answer is not JSON' }],
  ['null', { problem: 'the answer is not JSON' }],
])('the answer %s', (answer, read) => {
  expect(sentinel.token?.(opened('https://a.example.com')).read(answer)).toEqual(read);
});
