import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeAccount, makeKey, type NewKey } from '../../test/contract/account.ts';
import { fixtureJson } from '../../test/contract/fixture-command.ts';
import { startService, temporaryFolder } from '../../test/contract/running-service.ts';
import { createClient } from '../src/index.ts';

// A window lasts a minute and can't be made shorter: what waits for its end does so side by side.
test.concurrent('429: the walk, and the one that follows, wait as long as Retry-After says and go on', {
  timeout: 150_000,
}, async () => {
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
test.concurrent('follow goes on where the log begins, when it is cut by age while it is read', {
  timeout: 180_000,
}, async () => {
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

test('with retry: false a 429 is thrown at once, with its wait', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 1 });
  const dbvitals = createClient({ baseUrl: inject('origin'), apiKey: key, retry: false });
  await dbvitals.fleet();
  const error = await dbvitals.fleet().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'rate_limited', status: 429, requestId: expect.any(String) });
  expect(error).toHaveProperty('retryAfter', expect.closeTo(60, -1));
});
