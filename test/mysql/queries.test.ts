import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import type { ConnectionKey } from '../../src/monitor/monitor-deps.ts';
import { runHealthCheck } from '../../src/monitor/run.ts';
import { listQueries } from '../../src/runs/queries/list-queries.ts';
import { within } from '../../src/store/read.ts';
import { recentQueries, rememberQueries } from '../support/query-history.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { paste } from './paste.ts';
import { ENGINE, numbers } from './tested-server.ts';

let store: TestStore;
let server: MysqlServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), MysqlServer.start()]);
  await server.run([
    'create table orders (id int primary key, note text)',
    `insert into orders select seq, repeat('n', 500) from ${numbers(1, 4_000)}`,
  ]);
});
afterAll(() => Promise.all([store?.stop(), server?.stop()]));

// A fast machine counts 4,000 rows in less than a millisecond.
const QUICK = { minimum_seconds: 0.001, minimum_calls: 3 };
const thresholds = {
  MY_QUERY_SLOWER: { ...QUICK, minimum_ms: 1 },
  MY_QUERY_NEW: { minimum_seconds: 0.001, info: 0.001 },
  MY_QUERY_READS: { ...QUICK, minimum_read: 1_000, info: 1_000 },
};
const OURS = Object.keys(thresholds);

const watched = (): Promise<ConnectionKey> =>
  store.watched({ engine: ENGINE, host: server.socket, port: 3306, database: '' }, PASSWORD);
const run = (key: ConnectionKey) => runHealthCheck({ ...store.deps, thresholds }, key);

/** What the checks of queries find of the application's database, by check: status, line and remediation. */
async function findings(key: ConnectionKey): Promise<Record<string, string[][]>> {
  const stored = await run(key);
  const found = (stored?.checks ?? []).filter(
    ({ metric_line }) => !metric_line.startsWith('Query ') || metric_line.includes(' in shop '),
  );
  return Object.fromEntries(
    OURS.map((id) => [
      id,
      found
        .filter(({ check_id }) => check_id === id)
        .map(({ status, metric_line, remediation }) => [status, metric_line, remediation]),
    ]),
  );
}

const times = (count: number, statement: string) => Array.from({ length: count }, () => statement);

/** A query that is slower than it was, a new one that reads much, and one that is as usual. */
const work = () =>
  server.run([
    ...times(4, 'select sleep(0.05) as slower'),
    ...times(30, "select count(*) as tallied from orders where note like '%m%'"),
    ...times(4, 'select sleep(0.08) as steady'),
  ]);

async function digestOf(alias: string): Promise<string> {
  const [row] = await server.run(
    `select digest from performance_schema.events_statements_summary_by_digest
      where schema_name = 'shop' and digest_text like '%${alias}%'`,
  );
  return String(row?.['digest']);
}

const remember = (key: ConnectionKey, queries: [string, number][]) => rememberQueries(store, key, queries);
const hoursOf = (key: ConnectionKey) => recentQueries(store, key);

test('what queries did is stored by hour, run by run, by digest and schema, without a text', async () => {
  const key = await watched();
  await server.run(times(2, 'select sleep(0.01) as kept'));
  await run(key);
  expect(await hoursOf(key)).toEqual([]);
  await server.run(times(3, 'select sleep(0.05) as kept'));
  await run(key);
  await server.run(times(2, 'select sleep(0.05) as kept'));
  await run(key);
  const query = await digestOf('kept');
  const stored = (await hoursOf(key)).filter((row) => row.query === query);
  expect(stored).toMatchObject([{ database: 'shop', role: '', calls: 5, rows: 5 }]);
  expect(stored[0]?.seconds).toBeGreaterThan(0.24);
  expect(JSON.stringify(await hoursOf(key))).not.toContain('kept');
});

test('a query that became slower, a new one and one that reads much are found, and their statements show them', async () => {
  const key = await watched();
  await work();
  const [slower, steady, tallied] = await Promise.all(['slower', 'steady', 'tallied'].map(digestOf));
  await remember(key, [
    [slower ?? '', 0.01],
    [steady ?? '', 0.08],
  ]);
  await run(key);
  await work();
  const found = await findings(key);
  const begins = OURS.map((id) => found[id]?.map(([status, line = '']) => [status, line.slice(0, 120)]));
  const line = (digest: string | undefined, what: string) =>
    expect.stringMatching(new RegExp(`^Query ${digest} in shop ${what}`));
  expect(begins).toEqual([
    [['warning', line(slower, 'takes \\d+\\.\\d times as long')]],
    [['info', line(tallied, 'takes \\d+(\\.\\d)? % of the time')]],
    [['info', line(tallied, 'reads [34],\\d{3} rows for each')]],
  ]);
  expect(found['MY_QUERY_SLOWER']?.[0]?.[1]).toMatch(/: \d+ ms a call instead of 10 ms in /);
  for (const [id, text] of Object.entries({
    MY_QUERY_SLOWER: 'slower',
    MY_QUERY_NEW: 'tallied',
    MY_QUERY_READS: 'tallied',
  })) {
    const [shown = '', ...rest] = paste(server, found[id]?.[0]?.[2] ?? '')
      .trim()
      .split('\n');
    expect([shown.split('\t')[0], rest]).toEqual(['shop', []]);
    expect(shown).toContain(text);
  }
  await work();
  await run(key); // volatile: the second run opens the tickets
  const { rows } = await store.writer.query(
    `select check_id, object, measured ->> 'metric' as metric from ticket
      where account_id = $1 and check_id like 'MY_QUERY%' and object like '% in shop' order by 1`,
    [key.accountId],
  );
  expect(rows).toEqual([
    { check_id: 'MY_QUERY_NEW', object: `${tallied} in shop`, metric: 'new_query_time_ratio' },
    { check_id: 'MY_QUERY_READS', object: `${tallied} in shop`, metric: 'rows_examined_per_row_count' },
    { check_id: 'MY_QUERY_SLOWER', object: `${slower} in shop`, metric: 'query_slowdown_ratio' },
  ]);
});

test('the list leaves out what dbvitals reads, in this run and in the runs before', async () => {
  const key = await watched();
  await run(key);
  for (let n = 0; n < 2; n++) {
    await work();
    await run(key);
  }
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date()];
  const list = async (hidesOwn: boolean) => {
    const read = within(store.writer);
    const options = { from, to, limit: 200, hidesOwn };
    const { queries, hides_own } = await listQueries(read, key.accountId, key.connectionId, options);
    return { hides_own, queries: queries.map(({ query }) => query) };
  };
  const [all, others] = [await list(false), await list(true)];
  expect([all.hides_own, others.hides_own]).toEqual([false, true]);
  const rows = await server.run(
    'select distinct digest, digest_text as text from performance_schema.events_statements_summary_by_digest where digest is not null',
  );
  const texts = new Map(rows.map(({ digest, text }) => [String(digest), String(text)]));
  const reads = (queries: string[]) =>
    queries.filter((query) =>
      /information_schema|performance_schema|^SET NAMES .*read_only/.test(texts.get(query) ?? ''),
    );
  expect(reads(all.queries).length).toBeGreaterThan(5);
  expect(reads(others.queries).map((query) => texts.get(query))).toEqual([]);
  const named = await Promise.all(['slower', 'tallied', 'steady'].map(digestOf));
  expect(others.queries).toEqual(expect.arrayContaining(named));
});

test('with the index that the finding suggests, a query no longer reads too much', async () => {
  const key = await watched();
  const lookUp = times(100, "select note from orders where substr(note, 1, 1) = 'm' and id < 3000");
  await run(key);
  await server.run(lookUp);
  expect((await findings(key))['MY_QUERY_READS']?.map(([status]) => status)).toEqual(['info']);
  const mended = await watched();
  await run(mended);
  await server.run([
    'alter table orders add initial char(1) generated always as (substr(note, 1, 1)) virtual, add index (initial)',
    ...times(100, "select note from orders where initial = 'm' and id < 3000"),
  ]);
  expect((await findings(mended))['MY_QUERY_READS']?.map(([status]) => status)).toEqual(['ok']);
});

test('without three days of history nothing is new or slower, and a query that is as usual has no finding', async () => {
  const key = await watched();
  await run(key);
  await server.run(times(4, 'select sleep(0.1) as steady'));
  const young = await findings(key);
  for (const id of ['MY_QUERY_SLOWER', 'MY_QUERY_NEW'])
    expect(young[id]).toEqual([
      ['skipped', 'Not measured: it takes 3 days of history, and there are fewer.', ''],
    ]);
  const other = await watched();
  await remember(other, [[await digestOf('steady'), 0.1]]);
  await run(other);
  await server.run(times(4, 'select sleep(0.1) as steady'));
  const same = await findings(other);
  expect(same['MY_QUERY_SLOWER']?.map(([status]) => status)).toEqual(['ok']);
});

test('texts are read only where they are switched on, without passwords, and never show in a finding', async () => {
  const key = await watched();
  const texts = async () =>
    (
      await store.writer.query<{ text: string }>('select text from query_text where account_id = $1', [
        key.accountId,
      ])
    ).rows.map(({ text }) => text);
  const worked = () =>
    server.run([
      ...times(2, 'select sleep(0.05) as readable'),
      `alter user stranger@localhost identified by 'hunter2 ${'x'.repeat(40)}'`,
    ]);
  await run(key);
  await worked();
  await run(key);
  expect(await texts()).toEqual([]);
  await store.writer.query('update connection set query_texts = true where account_id = $1', [key.accountId]);
  await worked();
  const stored = await run(key);
  expect(await texts()).toContainEqual(expect.stringMatching(/^select `?sleep`? ?\(\?\) as `?readable`?$/i));
  expect(JSON.stringify(await texts())).not.toMatch(/hunter2|identified by/i);
  expect(JSON.stringify(stored)).not.toContain('readable');
});

/** MariaDB tells in whole seconds when it first saw a digest: one of the second of a run may be older than the run. */
async function nextSecond(): Promise<void> {
  const [row] = await server.run('select unix_timestamp() as second');
  await server.until(`select unix_timestamp() > ${row?.['second']}`);
}

test('after a reset or a restart all that the server counted is new, and another server is a gap', async () => {
  const key = await watched();
  await server.run(times(20, 'select sleep(0.01) as emptied'));
  await run(key);
  const work = times(3, 'select sleep(0.05) as emptied');
  const callsOf = async (query: string) =>
    (await hoursOf(key)).filter((row) => row.query === query).map(({ calls }) => calls);
  await server.run(['truncate performance_schema.events_statements_summary_by_digest', ...work]);
  await run(key);
  const query = await digestOf('emptied');
  expect(await callsOf(query)).toEqual([3]);
  await server.restart();
  await nextSecond();
  await server.run(work);
  await run(key);
  expect(await callsOf(query)).toEqual([6]);
  await server.run(['set global server_id = 77', ...work]);
  expect((await findings(key))['MY_QUERY_READS']).toEqual([
    ['skipped', 'Not measured: the last run read another server.', ''],
  ]);
  expect(await callsOf(query)).toEqual([6]);
});

test('without performance_schema, and without its consumer, the checks say what is missing', async () => {
  const key = await watched();
  await server.run(
    "update performance_schema.setup_consumers set enabled = 'NO' where name = 'statements_digest'",
  );
  expect((await findings(key))['MY_QUERY_NEW']).toEqual([
    ['skipped', 'Not measured: the consumer statements_digest is off.', ''],
  ]);
  await server.run([
    "update performance_schema.setup_consumers set enabled = 'YES' where name = 'statements_digest'",
    "update performance_schema.setup_instruments set enabled = 'NO' where name = 'statement/sql/select'",
  ]);
  expect((await findings(key))['MY_QUERY_NEW']).toEqual([
    ['skipped', 'Not measured: the instrument statement/sql/select is off, so queries are not counted.', ''],
  ]);
  await server.restart({ 'performance-schema': 'OFF' });
  expect((await findings(key))['MY_QUERY_NEW']).toEqual([
    ['skipped', 'Not measured: performance_schema is off.', ''],
  ]);
  await server.restart();
});

test('the checks of queries are as many as tested here', () => {
  const ids = mysqlChecks.filter(({ readsQueries }) => readsQueries).map(({ id }) => id);
  expect(ids.toSorted()).toEqual([...OURS, 'MY_SLOW_QUERIES'].sort());
});
