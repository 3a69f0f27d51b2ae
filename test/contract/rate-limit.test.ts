import { expect, test } from 'vitest';
import { makeAccount, makeKey } from './account.ts';
import { type Answer, ask, each } from './ask.ts';
import { command } from './command.ts';
import type { Failure } from './records.ts';

const PATH = '/api/v1/health/fleet';

const remaining = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
const reset = ({ headers }: Answer) => Number(headers['x-ratelimit-reset']);

async function times(count: number, key: string, path = PATH): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let n = 0; n < count; n += 1) answers.push(await ask(path, { key }));
  return answers;
}

test.each([
  ['team', '30'],
  ['business', '60'],
] as const)('plan %s has %s a minute', async (plan, limit) => {
  const { key } = await makeAccount({ plan });
  const answers = await times(Number(limit) + 2, key);
  expect(answers.map(({ status }) => status)).toEqual([...Array(Number(limit)).fill(200), 429, 429]);
  expect(new Set(answers.map(({ headers }) => headers['x-ratelimit-limit']))).toEqual(new Set([limit]));
});

test('an enterprise account has 100 a minute unless it carries its own', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 7 });
  expect((await ask(PATH, { key })).headers['x-ratelimit-limit']).toBe('7');
  const { id: plain } = JSON.parse(
    (await command(['account', 'create', '--name', 'Plain', '--plan', 'enterprise', '--json'])).stdout,
  );
  const other = await makeKey(plain, 'suite');
  const answers = await each(Array.from({ length: 130 }), 32, () => ask(PATH, { key: other.key }));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  expect(answers[0]?.headers['x-ratelimit-limit']).toBe('100');
});

test('one after another: remaining counts down to 0, then 429, and the reset stays where it is', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 5 });
  const answers = await times(8, key);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  expect(answers.map(remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0]);
  expect(new Set(answers.map(reset)).size).toBe(1);
  const last = answers.at(-1);
  expect(Number(answers[0]?.headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1_000 + 50);
  const { code, retry_after = 0 } = last?.json<Failure>().error ?? { code: 'none' };
  expect(code).toBe('rate_limited');
  // Both round the same instant up: one as an instant, one as a distance from the answer's own time.
  expect(
    Math.abs(Date.now() / 1_000 + retry_after - Number(last?.headers['x-ratelimit-reset'])),
  ).toBeLessThan(2);
});

test('200 at once with a limit of 100: exactly 100 admitted, each with its own remaining', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 100 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(PATH, { key })));
  const admitted = answers.filter(({ status }) => status === 200);
  expect(admitted).toHaveLength(100);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(100);
  expect(admitted.map(remaining).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

test('everything counts but 429: errors, HEAD and 304 too', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 20 });
  const [first] = await times(1, key);
  const etag = first?.headers['etag'] ?? '';
  const answers = [
    await ask('/api/v1/nothing', { key }),
    await ask('/api/v1/health/connections?page=0', { key }),
    await ask('/api/v1/health/connections/999999999/checks/latest', { key }),
    await ask(PATH, { key, method: 'POST' }),
    await ask(PATH, { key, method: 'HEAD' }),
    await ask(PATH, { key, headers: { 'if-none-match': etag } }),
    await ask('/api/v1/activity', { key }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 400, 404, 405, 200, 304, 200]);
  expect(answers.map(remaining)).toEqual([18, 17, 16, 15, 14, 13, 12]);
});

test('403 counts', async () => {
  const { key } = await makeAccount({ plan: 'team' });
  expect((await times(3, key, '/api/v1/ops/stats')).map(remaining)).toEqual([29, 28, 27]);
});

test('OPTIONS does not count', async () => {
  const { key } = await makeAccount({ plan: 'team' });
  await times(1, key);
  await ask(PATH, { key, method: 'OPTIONS' });
  expect((await times(1, key)).map(remaining)).toEqual([28]);
});

test('each key has a window of its own', async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 3 });
  const other = await makeKey(id, 'other');
  expect((await times(4, key)).map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  expect((await times(1, other.key)).map(remaining)).toEqual([2]);
});

test('a changed limit holds from the next request on, within the running window', async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 10 });
  const before = await times(3, key);
  await command(['account', 'change', String(id), '--requests-per-minute', '4']);
  const after = await times(2, key);
  expect(after.map(({ status }) => status)).toEqual([200, 429]);
  expect(after.map(remaining)).toEqual([0, 0]);
  expect(after[0]?.headers['x-ratelimit-limit']).toBe('4');
  await command(['account', 'change', String(id), '--requests-per-minute', '6']);
  const raised = await times(3, key);
  expect(raised.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(new Set([...before, ...after, ...raised].map(reset)).size).toBe(1);
});

test('the Individual plan: limit 0, remaining 0, reset in 60 s, never 429', async () => {
  const { key } = await makeAccount({ plan: 'individual' });
  for (const { status, headers } of await times(3, key)) {
    expect(status).toBe(403);
    expect(headers['x-ratelimit-limit']).toBe('0');
    expect(headers['x-ratelimit-remaining']).toBe('0');
    expect(Math.abs(Number(headers['x-ratelimit-reset']) - Date.now() / 1_000 - 60)).toBeLessThan(5);
  }
});
