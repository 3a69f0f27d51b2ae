import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Thresholds } from '../../src/checks/check.ts';
import { judgementOf } from '../../src/checks/judgement-of.ts';
import { slowQueries } from '../../src/checks/postgres/slow-queries.ts';
import { PARTS } from '../../src/checks/queries/statistics-sql.ts';
import { unpackState } from '../../src/runs/queries/query-state.ts';
import { measure } from './measure.ts';
import { oldPrograms, PostgresServer } from './postgres-server.ts';
import { readQueries } from './read-queries.ts';

let server: PostgresServer;
let watcher: pg.Client;
let serverVersion = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
  const [row] = await server.run(`select current_setting('server_version_num')::int as version`);
  serverVersion = Number(row?.['version']);
  await restart(100);
});
afterAll(async () => {
  await watcher.end();
  await server.stop();
});

/** Restarts the server with the fewest entries, so that statements evict each other. */
async function restart(max: number): Promise<void> {
  await server.run(`alter system set pg_stat_statements.max = ${max}`);
  await watcher?.end();
  await server.restart();
  watcher = await server.open('watcher');
}

const seconds = 3_600;
/** The state that the next run gets. */
const read = async () => (await readQueries(watcher)).state;
/** The judgement of a run an hour after the one that left this state. */
const judged = async (state: string, thresholds: Thresholds = {}) => {
  const { found } = await readQueries(watcher, state);
  const queries = 'skipped' in found ? found : { ...found, seconds };
  return measure(watcher, slowQueries, { thresholds, queries });
};
const sleep = async (times: number, long = 0.06) => {
  for (let time = 0; time < times; time++) await server.run(`select pg_sleep(${long})`);
};
/** Runs so many statements that differ. */
async function differ(statements: number): Promise<void> {
  const columns = (n: number) => Array.from({ length: n }, (_, at) => `1 as a${at}`).join(', ');
  const many = Array.from({ length: statements }, (_, n) => `select ${columns(n + 1)}`);
  const client = await server.open();
  for (const statement of many) await client.query(statement);
  await client.end();
}

test('a query that was slow since the last run is found, with its mean, and leaves the list when it is not', async () => {
  expect(await measure(watcher, slowQueries)).toMatchObject({
    skipped: 'Not measured: it takes two runs, and this is the first.',
  });
  await sleep(1);
  const first = await read();
  await sleep(3);
  const found = await judged(first);
  expect(found).toMatchObject({
    faults: [
      {
        severity: 'info',
        object: expect.stringMatching(/^-?\d+$/),
        metricLine: expect.stringMatching(
          / took \d+ ms on average, 3 times since the last run \(0 s in all\);/,
        ),
        measured: {
          metric: 'query_mean_seconds',
          operator: '>=',
          threshold: 0.05,
          value: expect.any(Number),
        },
      },
    ],
    measures: [
      { metric: 'query_mean_seconds', object: null, warning: 0.05 },
      { metric: 'query_mean_seconds', object: expect.any(String), value: expect.any(Number) },
      { metric: 'slow_queries_count', object: null, value: 1 },
    ],
    truncated: false,
  });
  const [fault] = 'faults' in found ? found.faults : [];
  expect(fault?.measured?.value).toBeGreaterThan(0.05);
  expect(fault?.measured?.value).toBeLessThan(0.2);

  // Mended: its mean since the reset is still far over the threshold.
  const second = await read();
  await sleep(100, 0.001);
  expect(await judged(second)).toMatchObject({
    faults: [],
    measures: [{ value: expect.any(Number) }, { metric: 'slow_queries_count', value: 0 }],
  });
});

test('what a backup reads, and a wait for a lock, is no slow query', async () => {
  await server.run(
    `create table reports (id int primary key, "Note" text); insert into reports select n, repeat('n', 100) from generate_series(1, 5e4) n;
     create table notes as select * from reports limit 8000`,
  );
  const copies = (statement: string) => server.run(Array.from({ length: 3 }, () => statement).join(';'));
  const before = await read();
  await copies('COPY public.reports (id, "Note") TO stdout');
  await copies('COPY public.notes (id, "Note") TO stdout');
  await copies(
    'begin; DECLARE _pg_dump_cursor CURSOR FOR SELECT * FROM ONLY public.reports; FETCH 20000 FROM _pg_dump_cursor; commit',
  );
  const holder = await server.open();
  await holder.query('begin; lock table reports; select pg_advisory_xact_lock(7)');
  const waits = ['lock table reports in share mode', 'select pg_advisory_xact_lock_shared(7), 1'];
  const waiters = [...waits, ...waits, ...waits].map((statement) =>
    server.run(`begin; ${statement}; commit`),
  );
  await server.until('select count(*) = 6 from pg_stat_activity where wait_event_type = $$Lock$$');
  await wait(100);
  await holder.query('commit');
  await Promise.all([...waiters, holder.end()]);
  // Each is set aside, however little it took: a threshold may be as low.
  expect(await judged(before, { info_ms: 1 })).toMatchObject({ faults: [] });
  // An export of an application is work.
  const then = await read();
  await copies('copy (select * from reports) to stdout');
  expect(await judged(then, { info_ms: 1 })).toMatchObject({ faults: [{ object: expect.any(String) }] });
});

test('what reads only the catalogue, as pg_dump and monitoring tools do, is no slow query', async () => {
  await server.run(`create table pg_orders (id int); insert into pg_orders select generate_series(1, 3e5);
    create function reports(oid) returns bigint language sql as 'select count(*) from pg_orders'`);
  const thrice = async (statement: string) => {
    for (const n of [1, 2, 3]) await server.run(statement.replaceAll('$n', String(n)));
  };
  const before = await read();
  const many = 'generate_series(1, 20) n, pg_catalog.pg_attribute a';
  await thrice(`select count(pg_catalog.format_type(a.atttypid, a.atttypmod)), $n from ${many}`);
  await thrice(`select count(*), $n from information_schema.columns c, lateral generate_series(1, 9)`);
  await thrice(
    `prepare columns(pg_catalog.oid) as select count(pg_catalog.format_type(a.atttypid, -1)) from ${many} where $1 > 0; execute columns(1)`,
  );
  expect(await judged(before, { info_ms: 5 })).toMatchObject({ faults: [] });
  const then = await read();
  await thrice('select count(*), $n from pg_orders');
  await thrice('select sum(reports(oid)), $n from pg_class where relname = $$pg_am$$');
  await thrice('select count(*), $n from pg_catalog.pg_am, public.pg_orders');
  expect(await judged(then, { info_ms: 5 })).toMatchObject({ faults: { length: 3 } });
});

test('two calls in an hour are too few', async () => {
  await sleep(1);
  const before = await read();
  await sleep(2);
  expect(await judged(before)).toMatchObject({ faults: [] });
});

test('a reset since the last run gives no value, a reset of one query only its new calls', async () => {
  await sleep(5);
  const before = await read();
  await server.run(
    `select "Extra stats".pg_stat_statements_reset(0, 0, queryid) from "Extra stats".pg_stat_statements
      where query = 'select pg_sleep($1)'`,
  );
  await sleep(3);
  expect(await judged(before)).toMatchObject({
    faults: [{ metricLine: expect.stringContaining(' 3 times since the last run') }],
  });
  await server.run('select "Extra stats".pg_stat_statements_reset()');
  await sleep(3);
  expect(await judged(before)).toMatchObject({
    skipped: 'Not measured: the statistics were reset since the last run.',
  });
});

test.each([
  ['pg_stat_statements.track', 'none', 'top'],
  ['compute_query_id', 'off', 'auto'],
])('with %s = %s nothing is counted, and that is not called fine', async (name, value, usual) => {
  const counting = await read();
  await server.configure(`alter system set ${name} = '${value}'; SELECT pg_reload_conf()`, name, value);
  try {
    // What was counted until now is no sign that something is counted still.
    const before = await read().catch(() => counting);
    await sleep(3);
    const reason = new RegExp(
      `Not measured: ${name} is ${value}, so .*counts no query; set it to ${usual}\\.`,
    );
    const judgement = await judged(before).catch(({ message }: Error) => ({ skipped: message }));
    expect(judgement.skipped).toMatch(reason);
  } finally {
    await server.configure(`alter system reset ${name}; SELECT pg_reload_conf()`, name, usual);
  }
});

test('an entry that was evicted and made again counts only what it counted since', async () => {
  await server.run('select "Extra stats".pg_stat_statements_reset()');
  await sleep(1);
  const before = await read();
  await differ(300);
  await differ(300);
  expect(
    await server.run(`select from "Extra stats".pg_stat_statements where query = 'select pg_sleep($1)'`),
  ).toEqual([]);
  // What the server removed is not called fine.
  expect(await judged(before)).toMatchObject({
    skipped: expect.stringMatching(
      /^Not measured: pg_stat_statements was full \d+ times since the last run and removed queries; raise pg_stat_statements\.max\.$/,
    ),
  });
  await sleep(6, 0.07);
  // Before 17 an entry does not say when it began, so the call of the evicted one is subtracted.
  const calls = serverVersion >= 170_000 ? 6 : 5;
  expect(await judged(before)).toMatchObject({
    truncated: true,
    faults: [
      { metricLine: expect.stringMatching(` took [78]\\d ms on average, ${calls} times since the last run`) },
    ],
  });
  const after = await read();
  expect(await judged(after)).toMatchObject({ passMessage: expect.any(String), faults: [] });
});

test('16 runs forget the entries that the server removed, and know all the others', async () => {
  const client = await server.open();
  const columns = (n: number) => Array.from({ length: n }, () => 1).join(', ');
  const slowly = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await client.query(`select pg_sleep(0.002), ${columns(n)}`);
  };
  await slowly(1, 60);
  let state = await read();
  const known = () => [...(unpackState(Buffer.from(state, 'base64'))?.entries.keys() ?? [])];
  const evicted = known();
  await slowly(60, 260);
  const onServer = `select concat_ws('/', queryid, userid, dbid, toplevel::int4) as entry
       from "Extra stats".pg_stat_statements(false) where total_exec_time >= 1`;
  // These statements remove entries the first time, because they are new too.
  await client.query(onServer);
  for (let run = 0; run <= PARTS; run++) ({ state } = await readQueries(watcher, state));
  const { rows } = await client.query<{ entry: string }>(onServer);
  await client.end();
  const all = rows.map(({ entry }) => entry);
  expect(evicted.filter((entry) => !all.includes(entry)).length).toBeGreaterThan(30);
  expect(known().filter((entry) => !all.includes(entry))).toEqual([]);
  expect(all.filter((entry) => !known().includes(entry)).length).toBeLessThan(5);
});

test('a hundred findings are listed, and the others counted', () => {
  const query = (n: number) => ({
    query: `${n}`,
    database: 'shop',
    role: 'app',
    calls: 10,
    seconds: 1,
    rows: 10,
    read: 0,
    hit: 0,
    temporary: 0,
  });
  const grown = Array.from({ length: 250 }, (_, n) => query(n));
  const queries = {
    grown,
    schema: 'public',
    seconds,
    recent: [],
    recentSeconds: 0,
    usual: new Map(),
    historyDays: 0,
  };
  const judgement = judgementOf(slowQueries, [], {
    version: 180_000,
    database: 'shop',
    now: new Date(),
    queries: { ...queries, usualIsCut: false },
  });
  expect(judgement).toMatchObject({
    faults: { length: 100 },
    truncated: true,
    measures: { length: 7, 6: { metric: 'slow_queries_count', value: 250 } },
  });
});

test('PostgreSQL 14, which does not tell when a statement was first seen, counts a new one too', async () => {
  await watcher.end();
  await server.replace(oldPrograms());
  watcher = await server.open('watcher');
  const first = await read();
  await sleep(5);
  expect(await judged(first)).toMatchObject({
    faults: [{ metricLine: expect.stringContaining(' 5 times since the last run') }],
  });
});

test('a query that waited for a lock is told to look for it, and one that read much to look for an index', async () => {
  await server.run('create table if not exists rows (id int primary key, n int)');
  await server.run('insert into rows values (1, 0) on conflict do nothing');
  await server.run(`create table pages as select repeat('n', 100) as note from generate_series(1, 3000)`);
  const [bob, alice] = await Promise.all([server.open(), server.open()]);
  const state = await read();
  for (let times = 0; times < 3; times++) {
    await bob.query('begin; update rows set n = n where id = 1');
    const updated = alice.query('update rows set n = n + 1 where id = 1');
    await server.until('select count(*) > 0 from pg_locks where not granted');
    await wait(100);
    await bob.query('commit');
    await updated;
    await alice.query(`select count(*) from pages where note || 'x' = 'y'`);
  }
  await Promise.all([bob.end(), alice.end()]);
  const { faults } = await judged(state, { info_ms: 0.01 });
  const lineOf = async (start: string) => {
    const [row] = await server.run(
      `select queryid::text as query from "Extra stats".pg_stat_statements where query like '${start}%'`,
    );
    return faults.find(({ object }) => object === row?.['query']) ?? { metricLine: '', remediation: '' };
  };
  const waited = await lineOf('update rows set n = n +');
  expect(waited.metricLine).toMatch(/find out what it waits for, such as a lock\.$/);
  expect(waited.remediation).toMatch(/pg_blocking_pids\(pid\) FROM pg_stat_activity WHERE query_id = -?\d+;/);
  expect((await lineOf('select count(*) from pages')).metricLine).toMatch(/an index helps\.$/);
});

test('an extension that is older than its library is one sentence, with the statement that updates it', async () => {
  await server.run('drop extension pg_stat_statements');
  await server.run(`create extension pg_stat_statements schema "Extra stats" version '1.4'`);
  await expect(readQueries(watcher)).rejects.toThrow(
    'pg_stat_statements in database shop is older than its library: ALTER EXTENSION pg_stat_statements UPDATE',
  );
  await server.run('alter extension pg_stat_statements update');
  await readQueries(watcher);
});
