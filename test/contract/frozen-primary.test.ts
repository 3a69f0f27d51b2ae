import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD } from '../checks/postgres-server.ts';
import { freeze, send } from '../support/process-tree.ts';
import { ask } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Service, startService } from './running-service.ts';
import { type StoreWithStandby, startStoreWithStandby } from './store-with-standby.ts';

// As after a live migration of a virtual machine: the machine keeps its connections, and does not know that it was away.
let store: StoreWithStandby;
let service: Service | undefined;
let frozen: number[] = [];

beforeAll(async () => {
  store = await startStoreWithStandby();
});

afterAll(async () => {
  thaw();
  await service?.stop();
  await store.stop();
});

function thaw(): void {
  for (const pid of frozen.splice(0)) send(pid, 'SIGCONT');
}

test('a primary that freezes and continues: requests and the monitor follow the standby, and no answer is from the past', async () => {
  const { primary, standby, postmaster } = store;
  const environment = {
    DATABASE_URL: `postgres://dbvitals:${encodeURIComponent(PASSWORD)}@127.0.0.1:${primary.port},${standby.place}/dbvitals`,
    DBVITALS_SECRET_KEY: '5f'.repeat(32),
    LOG_LEVEL: 'info',
  };
  const { origin, says, output } = await startService(environment).then((started) => {
    service = started;
    return started;
  });
  const [, key = ''] = await says(/API key +(dbv_live_\w{49})/);
  await fixtureJson(['account', 'change', '1', '--requests-per-minute', '100000'], environment);
  const url = 'postgres://u:p@127.0.0.1:1/d'; // nobody answers: a run takes no time
  await fixtureJson(['connection', 'add', '--account', '1', '--name', 'c', '--url', url], environment);
  await says(/health check completed/);

  /** The number of entries that the account's log has; null = the answer is 500. */
  const length = async () => {
    const { status, json } = await ask('/api/v1/activity?per_page=1', { key, origin });
    return status === 500 ? null : json<{ meta: { total: number } }>().meta.total;
  };
  const many = () => Promise.all(Array.from({ length: 24 }, length));

  await many(); // opens connections, which are idle when the primary freezes
  frozen = freeze([postmaster]);
  await wait(500);
  await standby.run('select pg_promote()');
  const promoted = performance.now();
  let entries = await length();
  while (entries === null) entries = await length();
  expect(performance.now() - promoted).toBeLessThan(10_000);

  // Its statement to the old primary has no answer and no end.
  const checks = () => output().split('health check completed').length;
  for (const before = checks(); checks() === before; await wait(200)) {
    await standby.run('update connection_schedule set due_at = now(), claimed_until = null', 'dbvitals');
    expect(performance.now() - promoted).toBeLessThan(20_000);
  }

  thaw();
  for (let n = 0; n < 20; n += 1) {
    const answered = (await many()).filter((each) => each !== null);
    const longest = entries;
    expect(answered.length).toBeGreaterThan(0);
    expect(answered.filter((each) => each <= longest)).toEqual([]);
    entries = Math.max(...answered);
  }
});
