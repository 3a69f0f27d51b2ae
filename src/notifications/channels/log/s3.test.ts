import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { OutgoingHttp, SendResult } from '../../sending/outgoing.ts';
import type { LogBatch } from '../channel.ts';
import { exampleDestination } from '../message-event-fixture.ts';
import { regionOf, s3 } from './s3.ts';

const batch: LogBatch = {
  accountId: 7,
  firstId: 1,
  lastId: 500,
  epoch: '0a1b2c3d4e5f',
  seal: '1:00ff',
  lines: [{ id: 1, at: '2026-11-28T04:15:00.123Z', actionType: 'a', severity: 'info', json: '{"id":1}' }],
};

async function made(
  url: string,
  settings: Record<string, unknown> = {},
  sent: LogBatch | null = batch,
  text = '{"id":1}\n',
): Promise<OutgoingHttp> {
  const secrets = { url, authorization: 'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
  const request = await s3.request(exampleDestination({ channel: 's3', secrets, settings }), {
    contentType: 'application/x-ndjson',
    body: text,
    eventId: 'log_7',
    epoch: '0a1b2c3d4e5f',
    sequence: 500,
    at: Date.parse('2026-11-28T04:15:02Z') / 1_000,
    ...(sent && { batch: sent }),
  });
  if (request.protocol !== 'http') throw new Error('S3 speaks HTTP.');
  return request;
}

const BUCKET = 'https://logs.s3.eu-central-1.amazonaws.com/audit';

test('an object has the hour, the range and a digest of its text in its name, and is never written over', async () => {
  const { method, url, headers, body, isBase64, secretHeaders } = await made(BUCKET);
  expect([method, isBase64, secretHeaders]).toEqual(['PUT', true, ['authorization']]);
  expect(url).toMatch(
    /^https:\/\/logs\.s3\.eu-central-1\.amazonaws\.com\/audit\/account-7\/2026\/11\/28\/04\/0000000000000001-0000000000000500\.0a1b2c3d4e5f\.[0-9a-f]{16}\.ndjson\.gz$/,
  );
  expect(gunzipSync(Buffer.from(body, 'base64')).toString()).toBe('{"id":1}\n');
  expect(headers).toMatchObject({
    'if-none-match': '*',
    'x-amz-date': '20261128T041502Z',
    'x-amz-meta-dbvitals-account': '7',
    'x-amz-meta-dbvitals-first-id': '1',
    'x-amz-meta-dbvitals-last-id': '500',
    'x-amz-meta-dbvitals-epoch': '0a1b2c3d4e5f',
    'x-amz-meta-dbvitals-seal': '1:00ff',
    authorization: expect.stringContaining(
      'Credential=AKIAIOSFODNN7EXAMPLE/20261128/eu-central-1/s3/aws4_request, SignedHeaders=content-md5;content-type;host;if-none-match;',
    ),
  });
  expect(JSON.stringify(headers)).not.toContain('wJalrXUtnFEMI');
});

test('the same text has the same name on every attempt, and another text has another', async () => {
  const first = await made(BUCKET);
  expect((await made(BUCKET)).url).toBe(first.url);
  expect((await made(BUCKET, {}, batch, '{"id":1,"x":2}\n')).url).not.toBe(first.url);
});

test('a test has a name that "activity verify" leaves out', async () => {
  expect((await made(`${BUCKET}/`, {}, null)).url).toMatch(/\/audit\/\.test\/log_7\.ndjson\.gz$/);
});

test('objects are encrypted as the destination says', async () => {
  const sse = async (encryption?: string) =>
    Object.entries((await made(BUCKET, encryption ? { encryption } : {})).headers).filter(([name]) =>
      name.includes('encryption'),
    );
  expect(await sse()).toEqual([]);
  expect(await sse('AES256')).toEqual([['x-amz-server-side-encryption', 'AES256']]);
  const key = 'arn:aws:kms:eu-central-1:111122223333:key/1234';
  expect(await sse(key)).toEqual([
    ['x-amz-server-side-encryption', 'aws:kms'],
    ['x-amz-server-side-encryption-aws-kms-key-id', key],
  ]);
});

test.each([
  ['https://s3.amazonaws.com/logs', null],
  ['https://logs.s3.amazonaws.com/', null],
  ['https://logs.s3.eu-central-1.amazonaws.com/', 'eu-central-1'],
  ['https://s3.eu-central-1.amazonaws.com/logs', 'eu-central-1'],
  ['https://s3-us-west-2.amazonaws.com/logs', 'us-west-2'],
  ['https://logs.s3.dualstack.us-gov-west-1.amazonaws.com/', 'us-gov-west-1'],
  ['https://logs.s3-fips.us-east-2.amazonaws.com/', 'us-east-2'],
  ['https://s3.us-west-004.backblazeb2.com/logs', 'us-west-004'],
  ['https://s3.fr-par.scw.cloud/logs', 'fr-par'],
  ['https://minio.example.com:9000/logs', null],
  ['https://s3.example.com/logs', null],
])('the region of %s is %s', (url, region) => {
  expect(regionOf(new URL(url))).toBe(region);
});

test('the region that was entered wins, and the port is signed', async () => {
  const signed = async (url: string, settings: Record<string, unknown>) =>
    /Credential=[^/]+\/\d+\/([^/]+)/.exec((await made(url, settings)).headers['authorization'] ?? '')?.[1];
  expect(await signed(BUCKET, { region: 'auto' })).toBe('auto');
  expect(await signed('https://minio.example.com:9000/logs', {})).toBe('us-east-1');
});

const answer = (status: number, response = ''): SendResult => ({
  status,
  accepted: status < 300,
  result: `${status}`,
  response,
  milliseconds: 1,
  retryAfter: null,
  gone: false,
});

test('an object that exists was stored by an attempt whose answer was lost', () => {
  expect(s3.judge?.(answer(412, '<Code>PreconditionFailed</Code>'))).toMatchObject({ accepted: true });
  expect(s3.judge?.(answer(409, '<Code>ConditionalRequestConflict</Code>'))).toMatchObject({
    accepted: false,
    result: '409 (ConditionalRequestConflict)',
  });
});

test('what S3 says about a failure is named, and nothing else of its answer', () => {
  const malformed = '<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>';
  expect(s3.judge?.(answer(400, malformed)).result).toBe(
    '400 (AuthorizationHeaderMalformed; the region of the bucket is eu-west-1)',
  );
  expect(s3.judge?.(answer(403, '<Code>a b</Code><script>')).result).toBe('403');
  expect(s3.judge?.(answer(200, '<Code>Odd</Code>')).result).toBe('200');
});
