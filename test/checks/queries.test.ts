import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import type { ConnectionKey } from '../../src/monitor/monitor-deps.ts';
import { runHealthCheck } from '../../src/monitor/run.ts';
import { recentQueries, rememberQueries } from '../support/query-history.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { oldPrograms, PASSWORD, PostgresServer } from './postgres-server.ts';

let store: TestStore;
let server: PostgresServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  await server.run('create table orders (id int primary key, note text)');
  await server.run(`insert into orders select n, repeat('n', 2000) from generate_series(1, 4000) n`);
});
afterAll(() => Promise.all([store.stop(), server.stop()]));

const QUICK = { minimum_seconds: 0.02, minimum_calls: 3 };
const thresholds = {
  PG_QUERY_SLOWER: { ...QUICK, minimum_ms: 1 },
  PG_QUERY_NEW: { minimum_seconds: 0.02 },
  PG_QUERY_READS: { ...QUICK, minimum_read: 100, info: 100 },
};
const OURS = Object.keys(thresholds);

async function watched(): Promise<ConnectionKey> {
  const { host, port, database } = server;
  return store.watched({ host, port, database }, PASSWORD);
}
const run = (key: ConnectionKey) => runHealthCheck({ ...store.deps, thresholds }, key);

/** The findings of the checks of queries, by check. */
async function findings(key: ConnectionKey): Promise<Record<string, [string, string, string][]>> {
  const stored = await run(key);
  const found = (stored?.checks ?? []).filter(({ check_id }) => OURS.includes(check_id));
  return Object.fromEntries(
    OURS.map((id) => [
      id,
      found
        .filter(({ check_id }) => check_id === id)
        .map(({ status, metric_line, remediation }) => [status, metric_line, remediation]),
    ]),
  );
}

const sleep = async (times: number, seconds: number) => {
  for (let n = 0; n < times; n++) await server.run(`select pg_sleep(${seconds})`);
};
const queryOf = async (text: string) => {
  const [row] = await server.run(
    `select queryid::text as id from "Extra stats".pg_stat_statements where query = '${text}' limit 1`,
  );
  return String(row?.['id']);
};

const remember = (key: ConnectionKey, queries: [string, number][]) =>
  rememberQueries(store, key, queries, 'postgres');
const hoursOf = (key: ConnectionKey) => recentQueries(store, key);

test('what queries did is stored by hour, run by run, by query, database and role', async () => {
  const key = await watched();
  await sleep(2, 0.01);
  await run(key);
  expect(await hoursOf(key)).toEqual([]);
  await sleep(3, 0.05);
  await run(key);
  await sleep(2, 0.05);
  await run(key);
  const query = await queryOf('select pg_sleep($1)');
  const stored = (await hoursOf(key)).filter((row) => row.query === query);
  expect(stored).toMatchObject([{ database: 'shop', role: 'postgres', calls: 5, rows: 5 }]);
  expect(stored[0]?.seconds).toBeGreaterThan(0.25);
  expect(JSON.stringify(await hoursOf(key))).not.toContain('pg_sleep');
});

test('a query that became slower, a new one and one that reads much are found, and their statements show them', async () => {
  const key = await watched();
  const work = async () => {
    await sleep(4, 0.05);
    // Enough to be a tenth of all the time on a fast machine too.
    for (let n = 0; n < 150; n++) await server.run('select count(*) from orders where note > $$m$$');
    for (let n = 0; n < 4; n++) await server.run('select pg_sleep(0.08), 1');
  };
  await work();
  const [slow, usual] = [await queryOf('select pg_sleep($1)'), await queryOf('select pg_sleep($1), $2')];
  await remember(key, [
    [slow, 0.01],
    [usual, 0.08],
  ]);
  await run(key);
  await work();
  const found = await findings(key);
  const name = `${slow} in shop by postgres`;
  const [slower] = found['PG_QUERY_SLOWER'] ?? [];
  expect(found['PG_QUERY_SLOWER']).toHaveLength(1);
  expect(slower?.slice(0, 2)).toEqual([
    'warning',
    expect.stringMatching(
      new RegExp(`^Query ${name} takes \\d+\\.\\d times as long as usual: \\d+ ms a call instead of 10 ms`),
    ),
  ]);
  expect(await server.run(slower?.[2] ?? '')).toEqual([{ query: 'select pg_sleep($1)' }]);
  const counting = await queryOf('select count(*) from orders where note > $1');
  expect(found['PG_QUERY_NEW']?.map(([status, line]) => [status, line.split(' takes ')[0]])).toEqual([
    ['info', `Query ${counting} in shop by postgres`],
  ]);
  expect(found['PG_QUERY_READS']?.map(([status, line]) => [status, line.split(' for each ')[0]])).toEqual([
    ['info', expect.stringMatching(`^Query ${counting} in shop by postgres reads [\\d,]+ blocks$`)],
  ]);
  await work();
  await run(key); // volatile: the second run opens the tickets
  const { rows } = await store.writer.query(
    `select check_id, object, measured ->> 'metric' as metric from ticket where account_id = $1 and check_id like 'PG_QUERY%' order by 1`,
    [key.accountId],
  );
  expect(rows).toEqual([
    { check_id: 'PG_QUERY_NEW', object: `${counting} in shop by postgres`, metric: 'new_query_time_ratio' },
    { check_id: 'PG_QUERY_READS', object: `${counting} in shop by postgres`, metric: 'blocks_per_row_count' },
    { check_id: 'PG_QUERY_SLOWER', object: name, metric: 'query_slowdown_ratio' },
  ]);
});

test('without three days of history nothing is new or slower, and a query that is as usual has no finding', async () => {
  const key = await watched();
  await run(key);
  await sleep(4, 0.1);
  const young = await findings(key);
  for (const id of ['PG_QUERY_SLOWER', 'PG_QUERY_NEW'])
    expect(young[id]).toMatchObject([
      ['skipped', 'Not measured: it takes 3 days of history, and there are fewer.', ''],
    ]);
  const other = await watched();
  await remember(other, [[await queryOf('select pg_sleep($1)'), 0.3]]);
  await run(other);
  await sleep(4, 0.3); // so long that no statement of the monitor takes a tenth of all
  const same = await findings(other);
  expect(OURS.slice(0, 2).map((id) => same[id]?.[0]?.[0])).toEqual(['ok', 'ok']);
});

test('texts are read only where they are switched on, without passwords, and never show in a finding', async () => {
  const key = await watched();
  const texts = async () =>
    (
      await store.writer.query('select text from query_text where account_id = $1 order by text', [
        key.accountId,
      ])
    ).rows.map(({ text }) => text);
  const work = async () => {
    await sleep(2, 0.05);
    await server.run(`alter role app password 'hunter2 ${'x'.repeat(40)}'; select pg_sleep(0.01)`);
  };
  await run(key);
  await work();
  await run(key);
  expect(await texts()).toEqual([]);
  await store.writer.query('update connection set query_texts = true where account_id = $1', [key.accountId]);
  await work();
  const stored = await run(key);
  expect(await texts()).toContain('select pg_sleep($1)');
  expect(JSON.stringify(await texts())).not.toContain('hunter2');
  expect(JSON.stringify(stored)).not.toContain('pg_sleep');
});

test('a restart or a reset is a gap, and PostgreSQL 14 counts the same', async () => {
  const key = await watched();
  await run(key);
  await sleep(2, 0.05);
  await server.run('select "Extra stats".pg_stat_statements_reset()');
  expect((await findings(key))['PG_QUERY_READS']).toMatchObject([
    ['skipped', 'Not measured: the statistics were reset since the last run.', ''],
  ]);
  await server.restart();
  expect((await findings(key))['PG_QUERY_READS']).toMatchObject([
    ['skipped', 'Not measured: the server was restarted since the last run.', ''],
  ]);
  expect(await hoursOf(key)).toEqual([]);
  await server.replace(oldPrograms());
  const old = await watched();
  await run(old);
  await sleep(3, 0.05);
  await run(old);
  const query = await queryOf('select pg_sleep($1)');
  expect((await hoursOf(old)).filter((row) => row.query === query)).toMatchObject([
    { database: 'shop', role: 'postgres', calls: 3 },
  ]);
});

test('the checks of queries are as many as tested here', () => {
  const ids = postgresChecks.filter(({ readsQueries }) => readsQueries).map(({ id }) => id);
  expect(ids.toSorted()).toEqual([...OURS, 'PG_SLOW_QUERIES'].sort());
});
