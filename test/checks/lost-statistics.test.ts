import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Row } from '../../src/checks/fault.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { waitFor } from '../support/wait-for.ts';
import { judgeOn, OLD_ENOUGH } from './judge-on.ts';
import { sample } from './measure.ts';
import { PostgresServer, testedPrograms } from './postgres-server.ts';
import { damagePage } from './provocations-replication-performance.ts';

// Statistics that were lost, in a reset, a crash, a promotion or an upgrade: what they no longer say is neither a fault nor its end.

let server: PostgresServer;
const { asked, judged, objects, made } = judgeOn(() => server);

beforeAll(async () => {
  server = await PostgresServer.start(testedPrograms());
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.run('drop schema public cascade');
  await server.run('create schema public');
});

async function serverAge(): Promise<number> {
  const [row] = await server.run(
    'select extract(epoch from now() - pg_postmaster_start_time())::float8 as age',
  );
  return Number(row?.['age']);
}

/** Expects that scans have been counted for less than `age` seconds. */
async function expectYoungCounts(age: number): Promise<void> {
  const days = { ...OLD_ENOUGH, statistics_days: age / 86_400 };
  expect((await judged('PG_UNUSED_INDEX', { thresholds: days })).skipped).toContain('Not measured');
  expect(await objects('PG_UNUSED_INDEX', { thresholds: OLD_ENOUGH })).toEqual(['public.x']);
}

const counts = { thresholds: { naps: 0 } };
const table = (rows: number) => [
  'create table t (a int)',
  `insert into t select generate_series(1, ${rows})`,
  'analyze t',
];

async function crash(): Promise<void> {
  const [session, other] = [await server.open(), await server.open()];
  const ended = new Promise((resolve) => other.once('end', resolve)); // the server ends all of them a moment later
  const [row] = (await session.query('select pg_backend_pid() as pid')).rows;
  process.kill(row.pid, 'SIGKILL');
  await ended;
  await waitFor(() => server.run('select'));
}

test.each([
  ['updated', 66_000, 'update t set a = a where a <= 20000'],
  ['deleted', 87_000, 'delete from t where a <= 20100'],
  [
    'inserted and deleted',
    66_000,
    'insert into t select 0 from generate_series(1, 20000); DELETE from t where a = 0',
  ],
])('of the rows that were there before, those %s are a share', async (_, rows, change) => {
  await made(...table(rows));
  await server.settle();
  await server.run('select pg_stat_reset()');
  await made(change);
  await server.settle();
  const { faults } = await judged('PG_DEAD_TUPLES', counts);
  expect(faults).toMatchObject([{ severity: 'warning', object: 'public.t' }]);
  expect(faults[0]?.metricLine).toMatch(/has 20,[01]00 dead rows, 23 % of all/);
  await made('analyze t');
  await server.settle();
  expect((await judged('PG_DEAD_TUPLES', counts)).faults[0]?.metricLine).toContain('23 % of all');
});

test('after pg_upgrade, which leaves no count at all, the share is told as the most that it can be', async () => {
  await made(...table(90_000));
  await server.settle();
  // What pg_upgrade up to 17 leaves of it, seen with 15.
  await server.run(`update pg_class set reltuples = -1, relpages = 0 where oid = 't'::regclass`);
  await server.run(`select pg_stat_reset_single_table_counters('t'::regclass)`);
  await made('update t set a = a where a <= 20000');
  await server.settle();
  const { faults } = await judged('PG_DEAD_TUPLES', counts);
  expect(faults[0]?.metricLine).toMatch(
    /has 20,000 dead rows, at most 100 % of all, as it was never vacuumed or analyzed /,
  );
  await made('analyze t');
  await server.settle();
  expect((await judged('PG_DEAD_TUPLES', counts)).faults[0]?.metricLine).toMatch(/dead rows, 18 % of all;/);
});

test('after pg_upgrade or a restore nothing counts as small or gone before the tables are analyzed', async () => {
  await made(
    'create table r (a int primary key)',
    'create table t (a int references r, note text)',
    `insert into t select null, repeat('x', 400) from generate_series(1, 100000)`,
    'create index x on t (a)',
    'create index y on t (a)',
    'create table s (a int references r, note text)',
    `insert into s select null, '' from generate_series(1, 20000)`,
    'analyze',
  );
  const ids = ['PG_DUPLICATE_INDEX', 'PG_FK_UNINDEXED', 'PG_NO_PRIMARY_KEY', 'PG_UNUSED_INDEX'];
  const usual = { thresholds: { minimum_bytes: 400_000, minimum_rows: 10_000, statistics_days: 0 } };
  const all = async (): Promise<Record<string, SeenJudgement>> =>
    Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await judged(id, usual)])));
  const before = await all();
  for (const id of ids) expect(before[id]?.faults, id).not.toEqual([]);
  await server.settle(); // what a session still has to report would be counted after the reset
  await server.run(`update pg_class set reltuples = -1, relpages = 0 where oid >= 16384`);
  await server.run('select pg_stat_reset()');
  const { PG_DUPLICATE_INDEX: duplicates, ...others } = await all();
  for (const [id, { faults, skipped }] of Object.entries(others))
    expect([id, faults, skipped]).toEqual([
      id,
      [],
      expect.stringMatching(/sizes of most tables, as after a major upgrade/),
    ]);
  // Small ones are notes only.
  expect(duplicates).toMatchObject({
    faults: [{ severity: 'warning', object: 'public.y' }],
    truncated: true,
  });
  expect(duplicates?.faults[0]?.metricLine).toContain('index public.y duplicates public.x');
  await server.run('analyze');
  const after = await all();
  for (const id of ids) expect(after[id]?.faults.length, id).toBe(before[id]?.faults.length);
});

test('tables that pg_upgrade left without statistics are one fault until ANALYZE, unless autovacuum or somebody is at work there', async () => {
  const id = 'PG_STALE_STATS';
  const loaded = (name: string, rows: number) => [
    `create table ${name} (a int, note text)`,
    `insert into ${name} select n, repeat('x', 100) from generate_series(1, ${rows}) n`,
  ];
  await made(...loaded('"Two words"', 20_000), ...loaded('u', 15_000), ...loaded('tiny', 100));
  await made('analyze');
  await server.settle();
  expect(await judged(id, counts)).toMatchObject({ faults: [] });
  await server.run(`update pg_class set reltuples = -1, relpages = 0 where oid >= 16384`);
  await server.run('select pg_stat_reset()');
  const { faults, measures } = await judged(id, counts);
  expect(faults).toMatchObject([{ severity: 'warning', object: null, remediation: 'ANALYZE;' }]);
  expect(faults[0]?.metricLine).toContain(
    ': 2 tables, such as public."Two words" (2 MB), have no statistics at all, as after a major upgrade',
  );
  expect(measures).toContainEqual(expect.objectContaining({ metric: 'stale_tables_count', value: 1 }));
  // It lasts for a while, so that an upgrade has time for its own ANALYZE.
  expect((await judged(id)).faults).toEqual([]);

  const writing = await server.open();
  await writing.query('begin; delete from "Two words" where a = 1');
  expect((await judged(id, counts)).faults[0]?.metricLine).toContain(': table public.u (2 MB) has no');
  await writing.query('rollback');
  await writing.query('delete from u where a < 100');
  await writing.end();
  await server.settle();
  expect((await judged(id, counts)).faults[0]?.metricLine).toContain(': table public."Two words" (');
  await server.run(faults[0]?.remediation ?? '');
  await server.settle();
  expect((await judged(id, counts)).faults).toEqual([]);
});

test('a load that goes on, and one that autovacuum will notice, leave no table without statistics', async () => {
  const id = 'PG_STALE_STATS';
  const load = `insert into t select n, repeat('x', 100) from generate_series(1, 20000) n`;
  await made('create table t (a int, note text)');
  const session = await server.open();
  await session.query('begin');
  await session.query(load);
  expect((await judged(id, counts)).faults).toEqual([]);
  await session.query('rollback');
  await session.query('truncate t');
  await session.query(load);
  await session.end();
  await server.settle();
  expect((await judged(id, counts)).faults.map(({ object }) => object)).toEqual(['public.t']);
});

/** Ends the server as a machine without power does. */
async function kill(): Promise<void> {
  const [pid] = readFileSync(join(server.host, 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  // Its processes end by themselves, and until then no other starts.
  await waitFor(() => server.resume());
}

test.each([
  ['a session', crash],
  ['the server', kill],
])(
  'a crash of %s mends no damaged page, a reset of the statistics says that it is mended',
  async (_, end) => {
    const id = 'PG_CHECKSUM_FAILURES';
    await made('create table t (a int)', 'insert into t values (1)', 'checkpoint');
    const [row = {}] = await server.run(`select pg_relation_filepath('t') as path`);
    await server.pause();
    damagePage(join(server.host, String(row['path'])));
    await server.resume();
    await expect(server.run('select * from t')).rejects.toThrow('invalid page');
    const failures = (count: number) =>
      server.until(`select checksum_failures = ${count} from pg_stat_database where datname = 'shop'`);
    await failures(1);

    let before: { rows: Row[]; seconds: number } | undefined;
    const run = async () => {
      const facts = before && { before };
      const { faults } = await judged(id, facts);
      before = { rows: await asked('watcher', sample, id, facts), seconds: 60 };
      return faults.map(({ metricLine }) => metricLine);
    };
    expect(await run()).toMatchObject([
      expect.stringMatching(/^Database shop: 1 checksum failure, the last/),
    ]);
    await end();
    await failures(0);
    const forgotten = expect.stringMatching(
      /shop: 1 checksum failure, .* which the server forgot in a crash;/,
    );
    expect([await run(), await run()]).toMatchObject([[forgotten], [forgotten]]);
    await end();
    // Before 15 the database counts from its first count on.
    await server.until(
      `select stats_reset is not null or current_setting('server_version_num')::int >= 150000
         from pg_stat_database where datname = 'shop'`,
    );
    expect(await run()).toMatchObject([forgotten]);
    await made('drop table t', 'select pg_stat_reset()');
    await server.settle();
    expect(await run()).toEqual([]);
    expect(await run()).toEqual([]);
  },
);

test('a crash begins the count of scans anew', async () => {
  await made(...table(10_000), 'create index x on t (a)');
  await crash();
  const age = await serverAge();
  await expectYoungCounts(age);
  const [first, ...tables] = await asked('watcher', sample, 'PG_SEQ_SCAN_HEAVY');
  const before = { rows: [{ ...first, counted_seconds: age }, ...tables], seconds: 300 };
  expect((await judged('PG_SEQ_SCAN_HEAVY', { before })).skipped).toContain('the statistics were reset');
});

test('a promotion begins the count of scans anew', async () => {
  await made('create table t (a int)', 'create index x on t (a)');
  await server.pause();
  writeFileSync(join(server.host, 'standby.signal'), '');
  await server.resume();
  // The time of a file is in whole seconds, and asking takes some time too: two seconds are between the start and the promotion.
  await server.until(`select now() > date_trunc('second', pg_postmaster_start_time()) + interval '3 s'`);
  await made('select pg_promote()');
  await expectYoungCounts(await serverAge());
  const hidden = await judged('PG_UNUSED_INDEX', { thresholds: OLD_ENOUGH }, 'stranger');
  expect(hidden.faults).toMatchObject([{ object: 'public.x' }]);
});
