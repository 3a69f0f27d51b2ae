import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask, each } from './ask.ts';

const PATH = '/api/v1/health/fleet';

test('a client that sleeps for Retry-After succeeds, though it asked all the while; then a whole window is its own', {
  timeout: 90_000,
}, async () => {
  const { key } = await makeAccount({ requestsPerMinute: 3 });
  const first = Date.now();
  await each([1, 2, 3], 3, () => ask(PATH, { key }));
  await wait(2_500);
  const refused = await ask(PATH, { key });
  expect(refused.status).toBe(429);
  const awake = wait(Number(refused.headers['retry-after']) * 1_000);
  const meanwhile = await each([5_000, 10_000, 15_000], 1, async (pause) => {
    await wait(pause);
    return ask(PATH, { key });
  });
  expect(meanwhile.map(({ status }) => status)).toEqual([429, 429, 429]);
  expect(new Set([refused, ...meanwhile].map(({ headers }) => headers['x-ratelimit-reset'])).size).toBe(1);
  await awake;
  expect(Date.now() - first).toBeGreaterThan(59_000);
  const answers = await each([1, 2, 3, 4], 1, () => ask(PATH, { key }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(['2', '1', '0', '0']);
  expect(Number(answers[0]?.headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1_000 + 55);
});
