import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore, WATCHER_PASSWORD } from '../../test/support/store.ts';
import { storeCounters } from './counters.ts';
import { loadRun } from './load-run.ts';
import type { ConnectionKey } from './monitor-deps.ts';
import { runHealthCheck } from './run.ts';
import type { StoredCheck } from './store-run.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const watched = (given?: Record<string, unknown>) => store.watched(given);
const change = (key: ConnectionKey, name: string, value: unknown) => store.set(key, { [name]: value });

async function run(key: ConnectionKey): Promise<StoredCheck> {
  const stored = await runHealthCheck(store.deps, key);
  if (!stored) throw new Error('nothing was stored');
  return stored;
}

const findingOf = ({ checks }: StoredCheck, id: string) => checks.find(({ check_id }) => check_id === id);

test('checks use the thresholds and expected standbys of their connection', async () => {
  const key = await watched();
  expect(findingOf(await run(key), 'PG_CONN_SATURATION')).toMatchObject({ status: 'ok' });
  await change(key, 'thresholds', { PG_CONN_SATURATION: { warning: 0.000_1 } });
  expect(findingOf(await run(key), 'PG_CONN_SATURATION')).toMatchObject({ status: 'warning' });
  await change(key, 'expected_standbys', 2);
  expect((await loadRun(store.deps, key))?.job.instructions).toMatchObject({ expectedStandbys: 2 });
});

test('counters are stored with the run, and their age is computed by the store’s clock', async () => {
  const key = await watched();
  const client = await store.writer.connect();
  const sample = { checkId: 'PG_DEADLOCKS', database: 'shop', after: 30, rows: [{ n: 1, at: 'x' }] };
  const first = await loadRun(store.deps, key);
  await storeCounters(client, key, (first?.loadedAt ?? 0) - 100, [sample, { ...sample, database: '' }]);
  await storeCounters(client, key, (first?.loadedAt ?? 0) - 50, [{ ...sample, rows: [{ n: 2, at: null }] }]);
  client.release();
  const { before = [] } = (await loadRun(store.deps, key))?.job.instructions ?? {};
  const byDatabase = before.sort((a, b) => a.database.localeCompare(b.database));
  expect(byDatabase).toMatchObject([
    { checkId: 'PG_DEADLOCKS', database: '', rows: [{ n: 1, at: 'x' }] },
    { checkId: 'PG_DEADLOCKS', database: 'shop', rows: [{ n: 2, at: null }] },
  ]);
  expect(byDatabase[0]?.seconds).toBeCloseTo(70, 0);
  expect(byDatabase[1]?.seconds).toBeCloseTo(20, 0);
});

test('a check that compares runs is skipped in the first run and measured in the second', async () => {
  const key = await watched();
  expect(findingOf(await run(key), 'PG_DEADLOCKS')).toMatchObject({
    status: 'skipped',
    metric_line: expect.stringMatching(/two runs/),
  });
  await store.writer.query(
    `update counter_sample set taken_at = taken_at - interval '1 h' where account_id = $1`,
    [key.accountId],
  );
  expect(findingOf(await run(key), 'PG_DEADLOCKS')).toMatchObject({ status: 'ok' });
});

test('a run reports its cost on the monitored server', async () => {
  const key = await watched();
  const { cost, id } = await run(key);
  expect(cost.statements).toBeGreaterThan(14);
  expect(cost.milliseconds).toBeGreaterThan(0);
  expect(cost.bytes).toBeGreaterThan(1_000);
  const { rows } = await store.writer.query('select cost from health_check where health_check_id = $1', [id]);
  expect(rows).toEqual([{ cost }]);
});

test('one finding lists every GRANT that skipped checks need, and is ok once they are granted', async () => {
  const root = await store.superuser();
  await root.query(`create role stranger login password '${WATCHER_PASSWORD}'`);
  const key = await watched({ username: 'stranger' });
  const blind = findingOf(await run(key), 'PG_PRIVILEGE_MISSING');
  expect(blind).toMatchObject({
    status: 'info',
    category: 'configuration',
    metric_line: expect.stringMatching(/checks lack a privilege.*PG_CONN_SATURATION/),
  });
  const grants = blind?.remediation.match(/GRANT [^;]*;/gi) ?? [];
  expect(new Set(grants).size).toBe(grants.length);
  expect(grants).toContain('GRANT pg_monitor TO stranger;');
  for (const database of ['postgres', 'store']) {
    const client = await store.superuser(database);
    for (const grant of grants) await client.query(grant);
  }
  expect(findingOf(await run(key), 'PG_CONN_SATURATION')).toMatchObject({ status: 'ok' });
  expect(findingOf(await run(key), 'PG_PRIVILEGE_MISSING')?.remediation ?? '').not.toContain('pg_monitor');
});

test('of several servers the primary is measured, or else one that accepts the login', async () => {
  const key = await watched();
  const { rows } = await store.writer.query('select host from connection where account_id = $1', [
    key.accountId,
  ]);
  const folder: string = rows[0].host;
  await change(key, 'host', `${folder}/nowhere,${folder}`);
  expect((await run(key)).score).toBeGreaterThan(0);
  await change(key, 'host', '127.0.0.1:1,127.0.0.1:2');
  await change(key, 'connection_type', 'direct');
  expect((await run(key)).checks).toMatchObject([
    {
      check_id: 'CONN_UNREACHABLE',
      metric_line: expect.stringContaining('127.0.0.1:1,127.0.0.1:2 in 3 tries'),
    },
  ]);
});
