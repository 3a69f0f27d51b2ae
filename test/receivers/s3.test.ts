import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LogBatch, OpenDestination } from '../../src/notifications/channels/channel.ts';
import { FORMATS } from '../../src/notifications/channels/formats.ts';
import {
  CONTEXT,
  exampleDestination,
  exampleEvent,
} from '../../src/notifications/channels/message-event-fixture.ts';
import { ACCESS_KEY, Ceph } from './ceph.ts';
import { sendEvents, startTestSender } from './send.ts';

let server: Ceph;
let sender: ReturnType<typeof startTestSender>;

beforeAll(async () => {
  server = await Ceph.start();
  sender = startTestSender();
}, 120_000); // its gateway starts slowly

afterAll(async () => {
  await sender?.stop();
  await server?.stop();
});

/** A bucket with a prefix, and an access key that may write to it unless `secret` is another one. */
function destinationAt(
  bucket: string,
  { secret = ACCESS_KEY.secretAccessKey, ...settings }: Record<string, string> = {},
): OpenDestination {
  return exampleDestination({
    channel: 's3',
    settings: { region: 'eu-central-1', ...settings },
    secrets: {
      url: `${server.url}/${bucket}/audit=log`,
      authorization: `${ACCESS_KEY.accessKeyId}:${secret}`,
    },
  });
}

function batchOf(first: number, last: number): LogBatch {
  const lines = Array.from({ length: last - first + 1 }, (_, n) => ({
    id: first + n,
    at: '2026-11-28T04:15:00.123Z',
    actionType: 'connection_added',
    severity: 'info' as const,
    json: JSON.stringify({ id: first + n, text: `…é\u{1f600}${'x'.repeat(2_000)}` }),
  }));
  return { accountId: 7, firstId: first, lastId: last, epoch: '0a1b2c3d4e5f', seal: null, lines };
}

/** Sends a batch as the dispatcher does. */
async function send(destination: OpenDestination, batch: LogBatch) {
  const { makeBatch, request, judge } = FORMATS.s3;
  const message = makeBatch?.(batch, {}) ?? { contentType: '', body: '' };
  const at = Math.floor(Date.now() / 1_000);
  const made = await request(destination, {
    ...message,
    eventId: 'log',
    epoch: batch.epoch,
    sequence: 1,
    at,
    batch,
  });
  const answer = await sender.send(made);
  return judge?.(answer) ?? answer;
}

test('each batch is an object: named in the order of the entries, gzip, with its range', async () => {
  await server.bucket('whole');
  const destination = destinationAt('whole');
  const batches = [batchOf(1, 500), batchOf(501, 1_000), batchOf(1_001, 1_001)];
  for (const batch of batches)
    expect(await send(destination, batch)).toMatchObject({ accepted: true, status: 200 });
  const names = await server.names('whole');
  expect(names).toHaveLength(3);
  for (const [at, name] of names.entries()) {
    const { body, headers } = await server.object('whole', name);
    const text = gunzipSync(body).toString();
    expect(text).toBe(batches[at]?.lines.map(({ json }) => `${json}\n`).join(''));
    expect(name).toContain(createHash('sha256').update(text).digest('hex').slice(0, 16));
    expect(headers.get('x-amz-meta-dbvitals-first-id')).toBe(String(batches[at]?.firstId));
  }
});

test('a batch that is sent again is accepted, and its object stays as it was', async () => {
  await server.bucket('again');
  const destination = destinationAt('again');
  await send(destination, batchOf(1, 3));
  const [name = ''] = await server.names('again');
  const written = (await server.object('again', name)).headers.get('last-modified');
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await send(destination, batchOf(1, 3))).toMatchObject({
    accepted: true,
    status: 412,
    result: '412: this object is stored already',
  });
  expect(await server.names('again')).toEqual([name]);
  expect((await server.object('again', name)).headers.get('last-modified')).toBe(written);
});

test('a wrong secret is a failure that names the cause', async () => {
  await server.bucket('refused');
  const destination = destinationAt('refused', { secret: 'another-secret' });
  expect(await send(destination, batchOf(1, 1))).toMatchObject({
    accepted: false,
    result: '403 Forbidden (SignatureDoesNotMatch)',
  });
  expect(await server.names('refused')).toEqual([]);
});

test('a bucket that does not exist is a failure that names the cause', async () => {
  expect(await send(destinationAt('missing'), batchOf(1, 1))).toMatchObject({
    accepted: false,
    result: '404 Not Found (NoSuchBucket)',
  });
});

test('a test is an object that "activity verify" leaves out', async () => {
  await server.bucket('tested');
  const sent = await sendEvents(sender, destinationAt('tested'), [exampleEvent()], CONTEXT);
  expect(sent).toMatchObject({ accepted: true });
  expect(await server.names('tested')).toEqual([
    expect.stringMatching(/^audit=log\/\.test\/.*\.ndjson\.gz$/),
  ]);
});
