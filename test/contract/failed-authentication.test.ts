import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { type Answer, ask, each } from './ask.ts';
import type { Failure } from './records.ts';
import { startService } from './running-service.ts';

const FLEET = '/api/v1/health/fleet';

// A service of its own behind a trusted proxy, so that the addresses are ours to choose and no other file meets
// the budget that this one spends.
const service = startService({ ...inject('sharedStore'), DBVITALS_TRUST_PROXY: '127.0.0.1' }, [
  '--no-monitor',
]);
const account = makeAccount();

afterAll(async () => {
  await (await service).stop();
});

async function from(address: string, key?: string): Promise<Answer> {
  const { origin } = await service;
  return ask(FLEET, { origin, key, headers: { 'x-forwarded-for': address } });
}

test('an address has 300 failed authentications per minute, shown in the headers', async () => {
  const first = await from('203.0.113.1');
  expect(first.status).toBe(401);
  expect(first.headers['x-ratelimit-limit']).toBe('300');
  expect(first.headers['x-ratelimit-remaining']).toBe('299');
  const second = await from('203.0.113.1', 'nonsense');
  expect(second.headers['x-ratelimit-remaining']).toBe('298');
});

test('over the limit: 429 for that address only, and never for a valid key', async () => {
  const tokens = Array.from({ length: 420 }, (_, n) => (n % 2 ? 'nonsense' : undefined));
  const answers = await each(tokens, 32, (token) => from('203.0.113.2', token));
  const codes = answers.map((answer) => answer.json<Failure>().error.code);
  expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(120);
  expect((await from('203.0.113.2')).status).toBe(429);
  expect((await from('203.0.113.3')).status).toBe(401);
  const { key } = await account;
  for (const address of ['203.0.113.2', '203.0.113.3']) {
    const answer = await from(address, key);
    expect(answer.status).toBe(200);
    expect(answer.headers['x-ratelimit-limit']).toBe('100000');
  }
});

test('IPv6 counts by its /64 network, an IPv4 address wrapped in IPv6 as itself', async () => {
  const left = async (address: string) => Number((await from(address)).headers['x-ratelimit-remaining']);
  expect(await left('2001:db8:7:8::1')).toBe(299);
  expect(await left('2001:db8:7:8:ffff:ffff:ffff:ffff')).toBe(298);
  expect(await left('[2001:0db8:0007:0008::1]:4711')).toBe(297);
  expect(await left('2001:db8:7:9::1')).toBe(299);
  expect(await left('203.0.113.9')).toBe(299);
  expect(await left('::ffff:203.0.113.9')).toBe(298);
  expect(await left('::ffff:cb00:7109')).toBe(297);
  expect(await left('::ffff:203.0.113.10')).toBe(299);
});

test('the address is the one that the trusted proxy saw, not one that the client added', async () => {
  const before = Number((await from('203.0.113.4')).headers['x-ratelimit-remaining']);
  const forged = await from('198.51.100.1, 203.0.113.4');
  expect(Number(forged.headers['x-ratelimit-remaining'])).toBe(before - 1);
});

test('the address from the trusted proxy is recorded as the source', async () => {
  const { key } = await account;
  const answer = await from('203.0.113.5', key);
  const entry = byRequestId(await readLog(key)).get(answer.headers['x-request-id']);
  expect(entry?.properties['source_ip']).toBe('203.0.113.5');
});
