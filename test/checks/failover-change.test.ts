import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Key, runOnce } from '../../src/monitor/run-fixture.ts';
import { changesOf, found as foundIn, NOTHING } from '../../src/runs/changes/changes-fixture.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { PASSWORD, PostgresServer, testedPrograms } from './postgres-server.ts';
import { Standby } from './standby.ts';

let store: TestStore;
let primary: PostgresServer;
let north: Standby;
beforeAll(async () => {
  [store, primary] = await Promise.all([startTestStore(), PostgresServer.start()]);
  await primary.pause();
  north = new Standby(primary, 'north', testedPrograms());
  await primary.resume({ listen_addresses: '127.0.0.1', max_wal_senders: '5' });
});
afterAll(async () => {
  await north?.stop();
  await Promise.all([store?.stop(), primary?.stop()]);
});

const found = (key: Key, work: () => Promise<unknown>) => foundIn(store, key, work);

async function watched(host: string, username = 'watcher'): Promise<Key> {
  const key = await store.watched({ host, port: primary.port, database: 'shop', username }, PASSWORD);
  await runOnce(store, key);
  expect(await changesOf(store, key)).toEqual([]);
  return key;
}

test('a standby that came and went is a change of its primary; without pg_monitor it is not known', async () => {
  const [key, blind] = [await watched(primary.host), await watched(primary.host, 'stranger')];
  const standby = { ...NOTHING, kind: 'standby', subject: 'north (127.0.0.1)' };
  const streaming = (count: number) =>
    primary.until(`select count(*) = ${count} from pg_stat_replication where state = 'streaming'`);
  const come = async () => {
    await north.start();
    await streaming(1);
  };
  expect(await found(key, come)).toEqual([{ ...standby, after: 'connected' }]);
  await primary.run('revoke pg_monitor from watcher');
  expect(await found(key, async () => {}), 'what is no longer seen did not go').toEqual([]);
  await primary.run('grant pg_monitor to watcher');
  const go = async () => {
    await north.pause();
    await streaming(0);
  };
  expect(await found(key, go)).toEqual([{ ...standby, before: 'connected' }]);
  expect(await found(blind, async () => {})).toEqual([]);
  await come();
});

test('a promotion is one change: a failover, with its timeline', async () => {
  const key = await watched(decodeURIComponent(north.place.split(':')[0] ?? ''));
  const role = { ...NOTHING, kind: 'failover', subject: 'role' };
  expect(await found(key, () => north.run('select pg_promote()'))).toEqual([
    { ...role, before: 'standby on timeline 1', after: 'primary on timeline 2' },
  ]);
  expect(await found(key, async () => {})).toEqual([]);
});
