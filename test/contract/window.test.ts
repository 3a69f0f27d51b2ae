import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { createClient } from '../../client/src/index.ts';
import { makeAccount, makeKey, type NewKey } from './account.ts';
import { ask, each } from './ask.ts';
import { startAssistant, textOf } from './assistant.ts';
import { fixtureJson } from './fixture-command.ts';
import { startService, temporaryFolder } from './running-service.ts';

// A window lasts a minute and can't be made shorter. Every test that waits for a real minute is in this file, and all wait at
// the same time. The store tier moves the start of a window in the store instead (src/api/gate/admit.store.test.ts).

const PATH = '/api/v1/health/fleet';

test.concurrent('a client that waits for Retry-After succeeds, even if it asked meanwhile, and gets a full new window', async () => {
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

test.concurrent('over the limit a tool says at once when to call again; with at most 10 s left it waits and answers', async () => {
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

test.concurrent('429: the client waits for Retry-After and continues, in a walk and while following the log', async () => {
  const { id, key } = await makeAccount({ requestsPerMinute: 4 });
  const follower = await makeKey(id, 'follower');
  const answers: { status: number; retryAfter: number; at: number }[] = [];
  const dbvitals = createClient({
    baseUrl: inject('origin'),
    apiKey: key,
    async fetch(request) {
      const at = performance.now();
      const response = await fetch(request);
      answers.push({ status: response.status, retryAfter: Number(response.headers.get('retry-after')), at });
      return response;
    },
  });

  const ids: number[] = [];
  const following = (async () => {
    const other = createClient({ baseUrl: inject('origin'), apiKey: follower.key });
    for await (const entry of other.activity.follow({ afterId: 0, pollSeconds: 0.5 })) {
      ids.push(entry.id);
      if (entry.properties['status'] === 429 && entry.properties['api_key_name'] === 'follower') return;
    }
  })();
  for (let n = 0; n < 6; n += 1) await dbvitals.fleet();
  await following;

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 200, 200]);
  const { retryAfter, at } = answers[4] ?? { retryAfter: 0, at: 0 };
  const waited = ((answers[5]?.at ?? 0) - at) / 1_000;
  expect(retryAfter).toBeGreaterThan(30);
  expect(waited).toBeGreaterThan(retryAfter - 0.05);
  expect(waited).toBeLessThan(retryAfter + 5);
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
});

// The service cuts the log a minute after its start.
test.concurrent('follow continues at the first remaining entry when retention removes entries while it reads', async () => {
  const folder = temporaryFolder();
  const environment = { DBVITALS_DATA_DIR: join(folder.path, 'data'), DBVITALS_ACTIVITY_DAYS: '10' };
  const service = await startService(environment, ['--no-monitor']);
  try {
    const make = <T>(...args: string[]) => fixtureJson<T>(args, environment);
    await make(
      'account',
      'create',
      '--name',
      'Old',
      '--plan',
      'enterprise',
      '--requests-per-minute',
      '100000',
    );
    await make('sample-data', '--account', '2', '--activity', '2000', '--days', '30');
    const { key } = await make<NewKey>('key', 'create', '--account', '2', '--name', 'collector');
    const dbvitals = createClient({ baseUrl: service.origin, apiKey: key });

    const entries = dbvitals.activity.follow({ afterId: 0 });
    const ids = [(await entries.next()).value.id];
    const first = async () =>
      (await dbvitals.activity({ order: 'asc', per_page: 1 }).pages().next()).value?.data[0]?.id;
    await expect.poll(first, { timeout: 120_000, interval: 1_000 }).toBeGreaterThan(1_000);
    while (ids.length < 500) ids.push((await entries.next()).value.id);

    const begin = (await first()) ?? 0;
    expect(ids.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
    expect(ids.slice(100)).toEqual(Array.from({ length: 400 }, (_, at) => begin + at));
  } finally {
    await service.stop();
    folder.remove();
  }
});
