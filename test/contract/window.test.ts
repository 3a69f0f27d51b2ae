import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask, each } from './ask.ts';
import { startAssistant, textOf } from './assistant.ts';

// A window lasts a minute and can't be made shorter: what waits for its end does so side by side.

const PATH = '/api/v1/health/fleet';

test.concurrent('a client that sleeps for Retry-After succeeds, though it asked all the while; then a whole window is its own', {
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

test.concurrent('over the limit a tool says at once when to call again; up to 10 s it waits itself, and then answers', {
  timeout: 90_000,
}, async () => {
  const { key } = await makeAccount({ requestsPerMinute: 2 });
  const { call } = await startAssistant(key);
  for (const tool of ['getFleet', 'getFleet']) expect((await call(tool)).isError, tool).toBeUndefined();
  const asked = Date.now();
  const refused = await call('listRoles');
  expect(Date.now() - asked).toBeLessThan(5_000);
  expect(refused.isError).toBe(true);
  const [, seconds = '', at = ''] =
    /^rate_limited: .+\nCall again in (\d+) s, at (\S+Z)\. /.exec(textOf(refused)) ?? [];
  expect(Number(seconds), textOf(refused)).toBeGreaterThan(30);
  expect(Math.abs(Date.parse(at) - asked - Number(seconds) * 1_000)).toBeLessThan(5_000);

  await wait((Number(seconds) - 6) * 1_000);
  const early = Date.now();
  const answered = await call('listRoles');
  expect(textOf(answered)).toContain('"viewer"');
  expect(answered.isError).toBeUndefined();
  expect(Date.now() - early).toBeGreaterThan(3_000);
});
