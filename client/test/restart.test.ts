import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import { makeAccount, makeKey } from '../../test/contract/account.ts';
import { readLog } from '../../test/contract/activity-log.ts';
import { freePort } from '../../test/contract/free-port.ts';
import { startLoad } from '../../test/contract/load.ts';
import { type Service, startService } from '../../test/contract/running-service.ts';
import { createClient } from '../src/index.ts';

test('follow continues through SIGTERM, kill -9 and an absent service: each entry once', async () => {
  const { id, key } = await makeAccount();
  const busy = await makeKey(id, 'busy');
  const environment = { ...inject('sharedStore'), PORT: String(await freePort()) };
  let service = await startService(environment, ['--no-monitor']);
  const baseUrl = service.origin;

  const ids: number[] = [];
  const end = new AbortController();
  const following = (async () => {
    const dbvitals = createClient({ baseUrl, apiKey: key });
    for await (const entry of dbvitals.activity.follow({
      afterId: 0,
      pollSeconds: 0.05,
      signal: end.signal,
    })) {
      ids.push(entry.id);
    }
  })().catch((reason: unknown) => reason);

  const load = startLoad(busy.key, 4, () => baseUrl);
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) {
    await wait(600);
    const before = ids.length;
    await service.stop(signal);
    await wait(500);
    service = await startService(environment, ['--no-monitor']);
    await expect.poll(() => ids.length).toBeGreaterThan(before);
  }
  await load.stop();
  const last = (await readLog(key, 0, baseUrl)).at(-1)?.id ?? 0;
  await expect.poll(() => ids.at(-1)).toBeGreaterThanOrEqual(last);
  end.abort('seen enough');
  expect(await following).toBe('seen enough');
  await service.stop();

  expect(load.answers.length).toBeGreaterThan(50);
  expect(load.broken).toBeGreaterThan(0);
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
});

test('a single call waits for a restarting service', async () => {
  const { key } = await makeAccount();
  const environment = { ...inject('sharedStore'), PORT: String(await freePort()) };
  const first = await startService(environment, ['--no-monitor']);
  await first.stop('SIGKILL');
  let second: Promise<Service> | undefined;
  let requests = 0;
  const dbvitals = createClient({
    baseUrl: first.origin,
    apiKey: key,
    async fetch(request) {
      requests += 1;
      // The first request finds nobody; the second one goes out when somebody is there again.
      await second;
      return fetch(request).finally(() => {
        second ??= startService(environment, ['--no-monitor']);
      });
    },
  });
  expect((await dbvitals.fleet()).summary.total).toBe(0);
  expect(requests).toBe(2);
  await (await second)?.stop();
});
