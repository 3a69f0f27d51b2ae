import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD } from '../checks/postgres-server.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { ask } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import { startLoad } from './load.ts';
import { type Environment, type Service, startService } from './running-service.ts';
import { type StoreWithStandby, startStoreWithStandby } from './store-with-standby.ts';

const FLEET = '/api/v1/health/fleet';
const services: Service[] = [];
let store: StoreWithStandby;

beforeAll(async () => {
  store = await startStoreWithStandby();
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await store.stop();
});

async function start(environment: Environment): Promise<Service> {
  const service = await startService(environment, ['--no-monitor']);
  services.push(service);
  return service;
}

test('kill -9 of the primary under load: the synchronous standby takes over, and no answered request is lost', async () => {
  const { primary, standby, postmaster } = store;
  // Wherever the primary stands among the hosts.
  const environment = {
    DATABASE_URL: `postgres://dbvitals:${encodeURIComponent(PASSWORD)}@${standby.place},127.0.0.1:${primary.port}/dbvitals`,
    DBVITALS_SECRET_KEY: '5e'.repeat(32),
  };
  const service = await start(environment);
  const [, key = ''] = await service.says(/API key +(dbv_live_\w{49})/);
  await fixtureJson(['account', 'change', '1', '--requests-per-minute', '100000'], environment);

  const load = startLoad(key, 12, () => service.origin);
  const countGood = () => load.answers.filter(({ status }) => status === 200).length;
  await expect.poll(countGood).toBeGreaterThan(100);
  process.kill(postmaster, 'SIGKILL');
  await wait(500);
  const before = countGood();
  await standby.run('select pg_promote()');
  const promoted = performance.now();
  while ((await ask(FLEET, { key, origin: service.origin })).status !== 200) await wait(50);
  const seconds = (performance.now() - promoted) / 1_000;
  await expect.poll(countGood).toBeGreaterThan(before + 100);
  await load.stop();

  expect(seconds).toBeLessThan(10);
  expect(load.broken).toBe(0);
  expect(load.answers.filter(({ status }) => status !== 200 && status !== 500)).toEqual([]);
  const good = load.answers.filter(({ status }) => status === 200);

  // A service that starts now finds the first host that serves.
  const later = await start({
    ...environment,
    DATABASE_URL: environment.DATABASE_URL.replace(/@([^,]+),([^/]+)/, '@$2,$1'),
  });
  const log = await readLog(key, 0, later.origin);
  expect(log.map(({ id }) => id)).toEqual(log.map((_, at) => at + 1));
  const requests = byRequestId(log);
  expect(good.filter(({ headers }) => !requests.has(headers['x-request-id']))).toHaveLength(0);
});
