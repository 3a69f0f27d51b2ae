import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { type Answer, ask } from './ask.ts';
import { startService } from './running-service.ts';

const FLEET = '/api/v1/health/fleet';
const settings = { ...inject('sharedStore'), DBVITALS_TRUST_PROXY: '127.0.0.1' };
// What is refused spends the budget of an address of this file alone.
const headers = { 'x-forwarded-for': '203.0.113.40' };
const service = startService({ ...settings, LOG_LEVEL: 'debug' }, ['--no-monitor']);
afterAll(async () => {
  await (await service).stop();
});

interface Line {
  request_id?: string;
  step?: string;
  ms?: number;
  step_ms?: number;
}

/** The steps of the request, as the log has them, without their times. */
async function stepsOf({ headers }: Answer): Promise<object[]> {
  const { output, says } = await service;
  const id = headers['x-request-id'] ?? '';
  await says(new RegExp(`"request_id":"${id}","step":"release".*\n`));
  const lines: Line[] = output()
    .split('\n')
    .filter((line) => line.includes(id) && line.includes('"step"'))
    .map((line) => JSON.parse(line));
  let elapsed = 0;
  return lines.map(({ request_id, step, ms = -1, step_ms = -1, ...rest }) => {
    expect(request_id).toBe(id);
    expect(step_ms).toBeGreaterThanOrEqual(0);
    elapsed += step_ms;
    expect(ms).toBeCloseTo(elapsed, 0);
    const { level: _level, time: _time, msg, ...facts } = rest as Record<string, unknown>;
    expect(msg).toBe('request step');
    return { step, ...facts };
  });
}

test('the debug log has each step of a request, in order: from the store, from the cache, over the limit', async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 2 });
  const { origin, output } = await service;
  const answers: Answer[] = [];
  for (let n = 0; n < 3; n += 1) answers.push(await ask(FLEET, { origin, key, headers }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);

  const edge = { step: 'edge', has_token: true };
  const [first = [], second = [], third = []] = await Promise.all(answers.map(stepsOf));
  const [, identified] = first;
  expect(identified).toEqual({
    step: 'identify',
    known: false,
    key_id: expect.any(Number),
    account_id: id,
  });
  const known = { ...identified, known: true };
  const generation = expect.any(Number);
  const fromCache = {
    step: 'prepare',
    attempt: 1,
    source: 'cache',
    status: 200,
    generation,
    spent: false,
  };
  expect(first).toEqual([
    edge,
    identified,
    { ...fromCache, source: 'store', generation: null },
    { step: 'gate', verdict: 'admitted', recorded: true, remaining: 1 },
    { step: 'release', status: 200 },
  ]);
  expect(second).toEqual([
    edge,
    known,
    fromCache,
    { step: 'gate', verdict: 'admitted', recorded: true, remaining: 0 },
    { step: 'release', status: 200 },
  ]);
  expect(third).toEqual([
    edge,
    known,
    fromCache,
    { step: 'gate', verdict: 'limited', recorded: true, remaining: 0 },
    { step: 'release', status: 429 },
  ]);
  expect(output()).not.toContain(key);
});

test('a refusal has its steps too, and no key', async () => {
  const { origin, output } = await service;
  const key = `dbv_live_${'x'.repeat(49)}`;
  expect(await stepsOf(await ask(FLEET, { origin, key, headers }))).toEqual([
    { step: 'edge', has_token: true },
    { step: 'identify', known: false },
    { step: 'release', status: 401 },
  ]);
  expect(await stepsOf(await ask(FLEET, { origin, headers }))).toEqual([
    { step: 'edge', has_token: false },
    { step: 'release', status: 401 },
  ]);
  expect(output()).not.toContain(key);
});
