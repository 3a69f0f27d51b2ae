import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Key, runOnce } from '../../src/monitor/run-fixture.ts';
import type { StoredCheck } from '../../src/monitor/store-run.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { waitFor } from '../support/wait-for.ts';
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
});

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
  const logIn = async () => (await server.open('watcher')).end();
  const file = join(server.host, 'pg_hba.conf');
  const rules = readFileSync(file, 'utf8');
  writeFileSync(file, `local all watcher reject\n${rules}`);
  await server.run('select pg_reload_conf()');
  await waitFor(() => expect(logIn()).rejects.toThrow('pg_hba.conf'));
  const [first] = await run();
  expect(first).toMatchObject({ check_id: 'CONN_AUTH_FAILED', status: 'critical' });
  expect(first?.metric_line).toContain('rejects this login');
  writeFileSync(file, rules);
  await server.run('select pg_reload_conf()');
  await waitFor(logIn);
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

test('two receivers of one name and address, which replay nothing, are one object (postgres_exporter 1352, pganalyze 21)', async () => {
  await server.pause();
  await server.resume({ max_wal_senders: '5' });
  const [row] = await server.run('select pg_current_wal_flush_lsn()::text as place');
  const taking = [1, 2].map(async () => {
    const receiver = new pg.Client({
      host: server.host,
      port: server.port,
      user: 'postgres',
      password: PASSWORD,
      application_name: 'walreceiver',
      replication: 'true',
    } as pg.ClientConfig);
    receiver.on('error', () => {});
    await receiver.connect();
    receiver.query(`START_REPLICATION PHYSICAL ${row?.['place']}`).catch(() => {});
    return receiver;
  });
  const receivers = await Promise.all(taking);
  await server.until(
    `select count(*) = 2 from pg_stat_replication where state = 'streaming' and replay_lsn is null`,
  );
  await run();
  const checks = await run();
  expect(errorsIn(checks)).toEqual([]);
  const { rows } = await store.writer.query(
    `select object from measure_series where account_id = $1 and check_id = 'PG_REPLICATION_LAG'`,
    [key.accountId],
  );
  expect(rows).toEqual([{ object: 'walreceiver' }]);
  for (const receiver of receivers) receiver.end().catch(() => {});
  await server.pause();
  await server.resume();
});

test('a subscription that works, but can not copy a table, is told as that (pglogical 213)', async () => {
  const [counts] = await server.run(`select to_regclass('pg_stat_subscription_stats') is not null as errors`);
  if (counts?.['errors'] !== true) return; // before 15 nothing counts them
  await server.pause();
  const settings = { max_wal_senders: '5', wal_level: 'logical', wal_retrieve_retry_interval: '100ms' };
  await server.resume({ ...settings, listen_addresses: '127.0.0.1' });
  await server.run(['create table copied (id int primary key)', 'insert into copied values (1)']);
  await server.run('create publication sent for table copied');
  await server.run(`select pg_create_logical_replication_slot('from_shop', 'pgoutput')`);
  await server.run('create database receiving');
  await server.run(
    ['create table copied (id int primary key)', 'insert into copied values (1)'],
    'receiving',
  );
  await server.run(
    `create subscription from_shop connection 'host=127.0.0.1 port=${server.port} dbname=shop user=postgres password=''${PASSWORD}'''
       publication sent with (create_slot = false)`,
    'receiving',
  );
  const copyErrors = (count: number) =>
    server.until(`select sum(sync_error_count) >= ${count} from pg_stat_subscription_stats`);
  await copyErrors(1);
  await run();
  await copyErrors(9);
  const stopped = (await run()).find(({ check_id }) => check_id === 'PG_SUBSCRIPTION_STOPPED');
  expect(stopped?.metric_line).toContain("from_shop of database receiving can't copy a table: ");
  const shown = await server.run(stopped?.remediation ?? '', 'receiving');
  expect(shown).toMatchObject([{ srrelid: 'copied' }]);
  for (const step of ['disable', 'set (slot_name = none)'])
    await server.run(`alter subscription from_shop ${step}`, 'receiving');
  await server.run('drop subscription from_shop', 'receiving');
  await server.run('drop database receiving with (force)');
  await server.until(`select bool_and(not active) from pg_replication_slots`);
  await server.run('select pg_drop_replication_slot(slot_name) from pg_replication_slots');
  await server.run('drop table copied');
  await server.pause();
  await server.resume();
});

test('a run leaves no session behind that keeps a database from being dropped (postgres_exporter 529)', async () => {
  await server.run('create database leaving');
  await run();
  await server.run('drop database leaving');
});

test('a query whose text this database can not have costs no other check, and is said (mamonsu 101, powa 136)', async () => {
  await server.run(`create database raw encoding 'SQL_ASCII' template template0 locale 'C'`);
  const raw = await server.open('postgres', 'raw');
  await raw.query(`set client_encoding = 'SQL_ASCII'; set pg_stat_statements.track = 'all'`);
  const text = String.raw`convert_from('\x73656c6563742070675f736c65657028302e303129206173202263616665e922', 'SQL_ASCII')`;
  await run();
  await raw.query(`do $$ begin execute ${text}; end $$`);
  await raw.end();
  const texts = 'select query from "Extra stats".pg_stat_statements';
  await expect(server.run(texts)).rejects.toThrow('invalid byte sequence');
  await wait(5_000); // what ran in a shorter time is not judged
  const checks = await run();
  expect(errorsIn(checks)).toEqual([]);
  const slow = checks.find(({ check_id }) => check_id === 'PG_SLOW_QUERIES');
  expect(slow).toMatchObject({
    status: 'skipped',
    metric_line: expect.stringMatching(
      /^Not measured: the texts of pg_stat_statements can't be read in database shop, /,
    ),
  });
  const reset = /SELECT pg_stat_statements_reset.*(?=\.$)/.exec(slow?.metric_line ?? '')?.[0] ?? '';
  await server.run(`set search_path = "Extra stats", public; ${reset}`);
  await server.run(texts);
  await wait(5_000);
  expect((await run()).find(({ check_id }) => check_id === 'PG_SLOW_QUERIES')?.status).not.toBe('skipped');
  await server.run('drop database raw');
});
