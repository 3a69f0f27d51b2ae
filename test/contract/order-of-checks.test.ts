import { expect, test } from 'vitest';
import { makeAccount, makeKey } from './account.ts';
import { type Answer, ask, each } from './ask.ts';
import { command } from './command.ts';
import type { Failure } from './records.ts';

const enterprise = makeAccount();
const individual = makeAccount({ plan: 'individual' });
const team = makeAccount({ plan: 'team' });

function code(answer: Answer): string {
  return answer.json<Failure>().error.code;
}

async function revokedKey(accountId: number): Promise<string> {
  const { id, key } = await makeKey(accountId, 'revoked');
  await command(['key', 'revoke', String(id)]);
  return key;
}

test.each([
  ['GET', '/api/v1/nothing'],
  ['POST', '/api/v1/health/fleet'],
  ['GET', '/api/v1/health/connections?page=0'],
  ['GET', '/api/v1/health/connections/999999999/checks/latest'],
])('1 before all: %s %s without a key is unauthorized', async (method, path) => {
  expect(code(await ask(path, { method }))).toBe('unauthorized');
});

test('1 before 2: two Authorization headers, one of them no key, are unauthorized', async () => {
  const { key } = await enterprise;
  const authorization = [`Bearer ${key}`, 'Bearer nonsense'];
  expect(code(await ask('/api/v1/health/fleet', { headers: { authorization } }))).toBe('unauthorized');
});

test('2 before 3: a revoked key of an Individual plan is an invalid key', async () => {
  const key = await revokedKey((await individual).id);
  expect(code(await ask('/api/v1/health/fleet', { key }))).toBe('invalid_api_key');
});

test('2 before the rest: a revoked key, whatever it asks', async () => {
  const key = await revokedKey((await team).id);
  for (const [method, path] of [
    ['GET', '/api/v1/ops/stats'],
    ['GET', '/api/v1/nothing'],
    ['POST', '/api/v1/health/fleet'],
    ['GET', '/api/v1/health/connections?page=0'],
    ['GET', '/api/v1/health/connections/999999999/checks/latest'],
  ] as const) {
    expect(code(await ask(path, { method, key })), path).toBe('invalid_api_key');
  }
});

test('3 before 4: the Individual plan is refused with 403 every time, never with 429', async () => {
  const { key } = await individual;
  const answers = await each(Array.from({ length: 40 }), 8, () => ask('/api/v1/health/fleet', { key }));
  expect(new Set(answers.map(code))).toEqual(new Set(['tier_insufficient']));
});

test('3 before 6 and 7: the Individual plan, whatever it asks', async () => {
  const { key } = await individual;
  for (const path of ['/api/v1/nothing', '/api/v1/health/connections?page=0']) {
    expect(code(await ask(path, { key })), path).toBe('tier_insufficient');
  }
  expect(code(await ask('/api/v1/health/fleet', { key, method: 'POST' }))).toBe('tier_insufficient');
});

test('4 before 5 to 8: over the limit, whatever it asks', async () => {
  const { key } = await makeAccount({ plan: 'team' });
  await each(Array.from({ length: 30 }), 8, () => ask('/api/v1/health/fleet', { key }));
  for (const [method, path] of [
    ['GET', '/api/v1/ops/stats'],
    ['GET', '/api/v1/nothing'],
    ['DELETE', '/api/v1/health/fleet'],
    ['GET', '/api/v1/health/connections?page=0'],
    ['GET', '/api/v1/health/connections/999999999/checks/latest'],
  ] as const) {
    expect(code(await ask(path, { method, key })), path).toBe('rate_limited');
  }
});

test.each([
  ['6, the path', 'GET', '/api/v1/ops/nothing'],
  ['6, the method', 'POST', '/api/v1/ops/stats'],
  ['7', 'GET', '/api/v1/ops/tickets?page=0'],
  ['8', 'GET', '/api/v1/ops/tickets?connection_id=999999999'],
])('5 before %s: %s %s without the plan', async (_, method, path) => {
  expect(code(await ask(path, { method, key: (await team).key }))).toBe('tier_insufficient');
});

test.each([
  ['POST', '/api/v1/health/nothing', 'not_found'],
  ['GET', '/api/v1/health/nothing?page=0', 'not_found'],
  ['POST', '/api/v1/health/connections?page=0', 'method_not_allowed'],
  ['POST', '/api/v1/health/connections/999999999/checks/latest', 'method_not_allowed'],
])('6 before 7 and 8: %s %s is %s', async (method, path, expected) => {
  expect(code(await ask(path, { method, key: (await enterprise).key }))).toBe(expected);
});

test.each([
  '/api/v1/health/connections/999999999/checks/latest?verbose=1',
  '/api/v1/ops/tickets?connection_id=999999999&page=0',
  '/api/v1/ops/tickets?connection_id=999999999&status=closed',
])('7 before 8: %s is a bad parameter', async (path) => {
  expect(code(await ask(path, { key: (await enterprise).key }))).toBe('invalid_parameter');
});
