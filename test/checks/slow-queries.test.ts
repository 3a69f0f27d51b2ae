import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { judgementOf } from '../../src/checks/judgement-of.ts';
import { slowQueries } from '../../src/checks/postgres/slow-queries.ts';
import { PARTS } from '../../src/checks/queries/statistics-sql.ts';
import { unpackState } from '../../src/queries/query-state.ts';
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
const judged = async (state: string) => {
  const { found } = await readQueries(watcher, state);
  return measure(watcher, slowQueries, { queries: 'skipped' in found ? found : { ...found, seconds } });
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

test('an entry that was evicted and made again counts only what it counted since', async () => {
  await server.run('select "Extra stats".pg_stat_statements_reset()');
  await sleep(1);
  const before = await read();
  await differ(300);
  await differ(300);
  expect(
    await server.run(`select from "Extra stats".pg_stat_statements where query = 'select pg_sleep($1)'`),
  ).toEqual([]);
  expect(await judged(before)).toMatchObject({ faults: [] });
  await sleep(6, 0.07);
  // Before 17 an entry does not say when it began, so the call of the evicted one is subtracted.
  const calls = serverVersion >= 170_000 ? 6 : 5;
  expect(await judged(before)).toMatchObject({
    faults: [
      { metricLine: expect.stringMatching(` took [78]\\d ms on average, ${calls} times since the last run`) },
    ],
  });
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
    ...{ query: `${n}`, database: 'shop', role: 'app', calls: 10, seconds: 1 },
    ...{ rows: 10, read: 0, hit: 0, temporary: 0 },
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
    ...{ version: 180_000, database: 'shop', now: new Date() },
    queries: { ...queries, usualIsCut: false },
  });
  expect(judgement).toMatchObject({
    ...{ faults: { length: 100 }, truncated: true },
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
