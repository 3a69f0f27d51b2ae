import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Key, runOnce } from '../../src/monitor/run-fixture.ts';
import type { StoredCheck } from '../../src/monitor/store-run.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';

// What broke other monitors, by their public bug reports: each is provoked here.

let store: TestStore;
let server: PostgresServer;
let key: Key;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  key = await store.watched(
    { host: server.host, port: server.port, database: server.database, username: 'watcher' },
    PASSWORD,
  );
});
afterAll(() => Promise.all([store?.stop(), server?.stop()]));

type Listed = StoredCheck['checks'][number];

const run = async (): Promise<Listed[]> => (await runOnce(store, key)).checks;

const errorsIn = (checks: readonly Listed[]) =>
  checks
    .filter(({ status }) => status === 'error')
    .map(({ check_id, metric_line }) => `${check_id}: ${metric_line}`);

/** Repeats the work until the runs are over. */
async function beside<T>(work: () => Promise<unknown>, runs: () => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const going = (async () => {
    while (!ending.signal.aborted) await work();
  })();
  try {
    return await runs();
  } finally {
    ending.abort();
    await going;
  }
}

test('an empty database without any statistics divides nothing by zero (pgwatch2 464, 491)', async () => {
  await server.run('create database empty');
  await server.run('select pg_stat_reset()');
  await run();
  const checks = await run();
  expect(errorsIn(checks)).toEqual([]);
  expect(checks.filter(({ metric_line }) => /NaN|Infinity/.test(metric_line))).toEqual([]);
});

test('tables that come and go while a run reads the catalogue cost no check (postgres_exporter 260)', async () => {
  const session = await server.open();
  const churn = async () => {
    await session.query('create table churned (id int primary key, a text); create index on churned (a)');
    await session.query('insert into churned select n, n from generate_series(1, 100) n; analyze churned');
    await session.query('create temporary table t (a int)');
    await session.query('drop table churned, t');
  };
  const checks = await beside(churn, async () => [...(await run()), ...(await run()), ...(await run())]);
  await session.end();
  expect(errorsIn(checks)).toEqual([]);
});

test('databases that come and go are neither unreachable nor an error (datadog 16027)', async () => {
  let made = 0;
  const churn = async () => {
    made++;
    await server.run(`create database "Short lived ${made}"`);
    await wait(50);
    await server.run(`drop database "Short lived ${made}" with (force)`);
  };
  const checks = await beside(churn, async () => [...(await run()), ...(await run()), ...(await run())]);
  expect(made).toBeGreaterThan(1);
  expect(checks.filter(({ check_id, status }) => check_id === 'CONN_UNREACHABLE' && status !== 'ok')).toEqual(
    [],
  );
  // What was open when its database went is told by its name, and is no finding about another.
  for (const line of errorsIn(checks)) expect(line).toContain('Short lived');
}, 60_000);

test('a partitioned table whose foreign key lacks an index is told once, at the parent (pgcluu 153)', async () => {
  await server.run('create table branches (bid int primary key)');
  await server.run('create table accounts (aid int, bid int references branches) partition by range (aid)');
  for (const [at, name] of ['a1', 'a2'].entries())
    await server.run(
      `create table ${name} partition of accounts for values from (${at * 100000}) to (${(at + 1) * 100000})`,
    );
  await server.run('insert into branches values (1)');
  await server.run('insert into accounts select n, 1 from generate_series(0, 150000) n');
  await server.run('analyze');
  const found = (await run()).filter(
    ({ check_id, status }) => check_id === 'PG_FK_UNINDEXED' && status !== 'ok',
  );
  expect(found.map(({ metric_line }) => metric_line)).toEqual([expect.stringContaining('accounts')]);
  await server.run('drop table accounts, branches');
});

test('an index without deduplication is not bloated, and no estimate is below 0 (check_pgactivity 264)', async () => {
  await server.run('create table t2 (id int)');
  await server.run('insert into t2 select n / 10 from generate_series(1, 400000) n');
  await server.run('create index deduplicated on t2 (id)');
  await server.run('create index plain on t2 (id) with (deduplicate_items = off)');
  await server.run('analyze t2');
  const bloat = (await run()).filter(({ check_id }) => check_id === 'PG_INDEX_BLOAT_EST');
  expect(bloat.map(({ status }) => status)).toEqual(['ok']);
  expect(bloat[0]?.metric_line).not.toMatch(/-\d/);
  await server.run('drop table t2');
});

test('a login that pg_hba.conf no longer admits is told, also while an old session goes on (postgres_exporter 1120)', async () => {
  const held = await server.open('watcher');
  const file = join(server.host, 'pg_hba.conf');
  const rules = readFileSync(file, 'utf8');
  writeFileSync(file, `local all watcher reject\n${rules}`);
  await server.run('select pg_reload_conf()');
  await server.until(`select count(*) > 0 from pg_hba_file_rules where auth_method = 'reject'`);
  await wait(200);
  const [first] = await run();
  expect(first).toMatchObject({ check_id: 'CONN_AUTH_FAILED', status: 'critical' });
  expect(first?.metric_line).toContain('rejects this login');
  writeFileSync(file, rules);
  await server.run('select pg_reload_conf()');
  await wait(200);
  expect(errorsIn(await run())).toEqual([]);
  await held.end();
});

test('statements that somebody cancels are named as such, and the server counts as reached (datadog 4500)', async () => {
  const session = await server.open();
  const cancel = async () => {
    await session.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where usename = 'watcher' and state = 'active' and query ~ 'pg_class'`,
    );
  };
  const checks = await beside(cancel, run);
  await session.end();
  const unreached = checks.filter(({ check_id, status }) => check_id.startsWith('CONN_U') && status !== 'ok');
  expect(unreached).toEqual([]);
  const errors = errorsIn(checks);
  expect(errors.length).toBeGreaterThan(0);
  for (const line of errors)
    expect(line).toContain('Not measured: its statement was cancelled on the server.');
});
