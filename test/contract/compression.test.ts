import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fillAccount, makeKey, makeKeylessAccount } from './account.ts';
import { ask } from './ask.ts';

const PATH = '/api/v1/health/connections';

const filled = fill();

async function fill(): Promise<{ key: string }> {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 20, tickets: 5, activity: 300, days: 2 });
  return makeKey(id, 'suite');
}

const readers = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  none: (bytes: Buffer) => bytes,
};

test.each([
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip;q=0.5, br;q=0', 'gzip'],
  ['br;q=0.1, gzip;q=0', 'br'],
  ['gzip;q=0, br;q=0', 'none'],
  ['identity', 'none'],
  ['deflate, zstd', 'none'],
  ['*;q=0, gzip', 'gzip'],
  ['', 'none'],
  ['gzip;q=nonsense, ,;', undefined],
] as const)('Accept-Encoding: %s is answered with %s', async (accepted, expected) => {
  const { key } = await filled;
  const plain = await ask(PATH, { key });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.bytes.length).toBeGreaterThan(1_024);
  const answer = await ask(PATH, { key, headers: { 'accept-encoding': accepted } });
  const encoding = answer.headers['content-encoding'] ?? 'none';
  if (expected !== undefined) expect(encoding).toBe(expected);
  const decode = encoding === 'gzip' || encoding === 'br' ? readers[encoding] : readers.none;
  expect(decode(answer.bytes)).toEqual(plain.bytes);
  if (encoding !== 'none') expect(answer.bytes.length).toBeLessThan(plain.bytes.length);
});

test.each(['identity', 'gzip', 'br'])('304: the tag is that of the 200 with %s', async (accepted) => {
  const { key } = await filled;
  const headers = { 'accept-encoding': accepted };
  const { etag = 'none' } = (await ask(PATH, { key, headers })).headers;
  const plain = (await ask(PATH, { key })).headers['etag'] ?? 'none';
  for (const known of [etag, plain, '*']) {
    const answer = await ask(PATH, { key, headers: { ...headers, 'if-none-match': known } });
    expect([answer.status, answer.headers['etag']], known).toEqual([304, etag]);
    expect(answer.headers['content-encoding']).toBeUndefined();
  }
});

test('browsers accept both codings and get one of them', async () => {
  const { key } = await filled;
  const answer = await ask(PATH, { key, headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } });
  expect(['gzip', 'br']).toContain(answer.headers['content-encoding']);
});

test.each(['gzip', 'br'] as const)('the activity log is compressed with %s', async (encoding) => {
  const { key } = await filled;
  const answer = await ask('/api/v1/activity', { key, headers: { 'accept-encoding': encoding } });
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(JSON.parse(readers[encoding](answer.bytes).toString()).data).toHaveLength(50);
});

test('a body under 1 KiB is sent as it is', async () => {
  const { key } = await filled;
  const answer = await ask('/api/v1/ops/stats', { key, headers: { 'accept-encoding': 'gzip, br' } });
  expect(answer.headers['content-encoding']).toBeUndefined();
});

test.each(['gzip', 'br'])('the tag of a %s answer gives 304', async (encoding) => {
  const { key } = await filled;
  const headers = { 'accept-encoding': encoding };
  const { headers: first } = await ask(PATH, { key, headers });
  const again = await ask(PATH, { key, headers: { ...headers, 'if-none-match': first['etag'] ?? '' } });
  expect(again.status).toBe(304);
});
