import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import { changeConnection } from '../../connections/change-connection.ts';
import { hashSource } from '../../runs/load/session-load.ts';
import { storeLoad } from '../../runs/load/store-load.ts';
import { pruneQueries } from '../../runs/queries/prune-queries.ts';
import type { QueryReport } from '../../runs/queries/query-run.ts';
import { readQueryTexts } from '../../runs/queries/read-query-texts.ts';
import { storeQueries } from '../../runs/queries/store-queries.ts';
import { openPool } from '../../store/connect.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { ConnectionQueries, QueryHistory } from './query-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;

beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const notFound = [404, 'not_found', expect.any(String), undefined];
const STATE = Buffer.from('state').toString('base64');

const ran = (query: number, calls: number, seconds: number) => ({
  query: String(query),
  database: 'shop',
  role: 'app',
  calls,
  seconds,
  rows: calls,
  read: 2,
  hit: 3,
  temporary: 8_192,
});
const reportOf = (grown: QueryReport['grown'], texts: QueryReport['texts'] = []): QueryReport => ({
  state: STATE,
  grown,
  texts,
  calls: grown.reduce((sum, { calls }) => sum + calls, 0),
  seconds: grown.reduce((sum, { seconds }) => sum + seconds, 0),
});

async function ownerWithConnection() {
  const owner = await testConsole.owner();
  const connectionId = await store.connection(owner.accountId);
  const key = { accountId: owner.accountId, connectionId };
  const add = (...given: Parameters<typeof reportOf>) => storeQueries(store.writer, key, reportOf(...given));
  return { ...owner, key, connectionId, add, path: `/connections/${connectionId}/queries` };
}

test('runs of an hour add up, most time first, and another account sees nothing', async () => {
  const { add, path, read } = await ownerWithConnection();
  expect((await read<ConnectionQueries>(path)).queries).toEqual([]);
  await add([ran(1, 10, 1), ran(-2, 1, 3)]);
  await add([ran(1, 30, 4)]);
  await add([]);
  const { queries, ...all } = await read<ConnectionQueries>(path);
  expect(all).toMatchObject({ all_calls: 41, all_seconds: 8 });
  expect(queries).toEqual([
    {
      query: '1',
      database: 'shop',
      role: 'app',
      calls: 40,
      seconds: 5,
      rows: 40,
      read: 4,
      hit: 6,
      temporary: 16_384,
      trend: [...Array.from({ length: 13 }, () => null), 0.125],
    },
    expect.objectContaining({ query: '-2', calls: 1, seconds: 3 }),
  ]);
  expect((await read<ConnectionQueries>(`${path}?limit=1`)).queries).toHaveLength(1);
  const other = await ownerWithConnection();
  expect(await other.refused(path)).toEqual(notFound);
});

test('an hour keeps 200 queries while it lasts, 50 after it, for 14 days, in 5 MB', async () => {
  const { add, key } = await ownerWithConnection();
  const digest = (n: number) => `${n}`.padStart(64, 'a1');
  const many = Array.from({ length: 200 }, (_, n) => ({
    ...ran(n, n + 1.5, 200.123 - n),
    query: digest(n),
    database: `a database of the shop ${n % 7}`,
    role: `a role of the shop ${n % 5}`,
  }));
  await add(many);
  await add([ran(7_777, 1, 0.001)]);
  const ids = [key.accountId, key.connectionId];
  const sizes = async () =>
    (
      await store.writer.query<{ size: number }>(
        `select cardinality(query)::int as size from query_hour where account_id = $1 and connection_id = $2 order by hour`,
        ids,
      )
    ).rows.map(({ size }) => size);
  expect(await sizes()).toEqual([200]);
  await store.writer.query(
    `update query_hour set hour = hour - interval '1 h' where account_id = $1 and connection_id = $2`,
    ids,
  );
  await add([ran(1, 1, 1)]);
  expect(await sizes()).toEqual([50, 1]);

  await store.writer.query(
    `insert into query_hour
     select account_id, connection_id, hour - n * interval '1 h', all_calls, all_seconds, query, database, role, calls, seconds, rows, read, hit, temporary
       from query_hour, generate_series(1, 400) n where account_id = $1 and connection_id = $2 and cardinality(query) = 50`,
    ids,
  );
  const owner = openPool(store.address, 'owner', { max: 1 });
  for await (const _ of pruneQueries(owner));
  await owner.end();
  expect((await sizes()).length).toBeLessThanOrEqual(14 * 24 + 1);
  expect((await sizes()).length).toBeGreaterThan(14 * 24 - 2);
  const { rows } = await store.writer.query(
    `select sum(pg_column_size(h.*))::int as bytes from query_hour h where account_id = $1 and connection_id = $2`,
    ids,
  );
  expect(rows[0].bytes).toBeLessThan(3_000_000);
});

test('texts are stored only while they are on, each reading is logged, and switching off deletes them', async () => {
  const { add, key, path } = await ownerWithConnection();
  const { accountId, connectionId } = key;
  const change: ChangeAccount = (work) => changeAccount(store.writer, accountId, work);
  const turn = (queryTexts: boolean) =>
    changeConnection(change, store.deps.secret, connectionId, { queryTexts });
  const text = async (...queries: string[]) =>
    (await readQueryTexts(change, connectionId, ['1', ...queries])).map((one) => one.text);
  const stored = async () =>
    (await store.writer.query('select text from query_text where account_id = $1', [accountId])).rows;
  const given: [string, string][] = [['1', 'select $1']];
  await add([ran(1, 1, 1)], given);
  expect([await stored(), await text()]).toEqual([[], []]);
  await turn(true);
  await add([ran(1, 1, 1)], given);
  expect(await text()).toEqual(['select $1']);
  await add([ran(2, 1, 1)], [['2', 'select 2']]);
  expect(await text('2', '3')).toEqual(['select $1', 'select 2']);
  const { rows } = await store.writer.query(
    `select properties from activity where account_id = $1 and action_type in ('query_text_read', 'connection_changed')
      order by id`,
    [accountId],
  );
  expect(rows).toMatchObject([
    { properties: { changed: ['query_texts'], from: { query_texts: false }, to: { query_texts: true } } },
    { properties: { connection_id: connectionId, name: 'test', query: '1' } },
    { properties: { connection_id: connectionId, queries: ['1', '2'] } },
  ]);
  expect(JSON.stringify(rows)).not.toContain('select');
  const reader = await testConsole.owner();
  expect(await reader.refused(path)).toEqual(notFound);
  await turn(false);
  expect([await stored(), await text()]).toEqual([[], []]);
});

test('queries are listed by database and role, without those of our own login unless all are', async () => {
  const { add, key, path, read, refused } = await ownerWithConnection();
  const own = 'health';
  await store.writer.query(
    'update connection set username = $3 where account_id = $1 and connection_id = $2',
    [key.accountId, key.connectionId, own],
  );
  const listed = async (query: string) => {
    const { queries, hides_own } = await read<ConnectionQueries>(`${path}${query}`);
    return [hides_own, ...queries.map((one) => `${one.query} ${one.database} ${one.role}`)];
  };
  await add([{ ...ran(1, 1, 9), role: own }]);
  expect(await listed('')).toEqual([false, '1 shop health']);
  await add([ran(2, 1, 3), { ...ran(2, 1, 2), database: 'logs' }, { ...ran(3, 1, 1), role: "o'hara" }]);
  expect(await listed('')).toEqual([true, '2 shop app', '2 logs app', "3 shop o'hara"]);
  expect((await listed('?own=shown'))[1]).toBe('1 shop health');
  expect(await listed('?role=health')).toEqual([false, '1 shop health']);
  expect(await listed('?database=logs')).toEqual([true, '2 logs app']);
  expect(await listed(`?role=${encodeURIComponent("o'hara")}`)).toEqual([false, "3 shop o'hara"]);
  expect(await listed(`?role=${encodeURIComponent("' or true --")}`)).toEqual([false]);
  const { databases, roles } = await read<ConnectionQueries>(path);
  expect([databases, roles]).toEqual([
    ['logs', 'shop'],
    ['app', own, "o'hara"],
  ]);
  expect(await refused(`${path}?own=all`)).toEqual([400, 'invalid_parameter', expect.any(String), 'own']);
  expect((await refused(`${path}?role=${'r'.repeat(101)}`))[0]).toBe(400);
});

test('queries of MySQL that read only its catalogue are hidden unless all do, whichever run saw it', async () => {
  const { add, key, path, read } = await ownerWithConnection();
  const digest = (name: string) => name.repeat(64);
  const run = (name: string, seconds: number) => ({ ...ran(0, 1, seconds), query: digest(name), role: '' });
  const saw = (...names: string[]) =>
    storeQueries(store.writer, key, { ...reportOf([]), catalogue: names.map(digest) });
  const listed = async (query = '') => {
    const { queries, hides_own } = await read<ConnectionQueries>(`${path}${query}`);
    return [hides_own, queries.map((one) => one.query[0]).join(' ')];
  };
  await add([run('a', 9), run('b', 5)]);
  expect(await listed()).toEqual([false, 'a b']);
  await saw('a');
  await saw('b', 'c');
  expect(await listed()).toEqual([false, 'a b']);
  await add([run('d', 1)]);
  expect(await listed()).toEqual([true, 'd']);
  expect(await listed('?own=shown')).toEqual([false, 'a b d']);
  await add([run('e', 3)]);
  expect(await listed('?database=shop')).toEqual([true, 'e d']);
  await saw(...Array.from({ length: 16 }, (_, n) => n.toString(16)));
  expect(await listed()).toEqual([false, 'a b e d']);
  const stranger = await ownerWithConnection();
  await stranger.add([run('a', 9), run('d', 5)]);
  expect((await stranger.read<ConnectionQueries>(stranger.path)).hides_own).toBe(false);
});

test('queries are listed by the application in whose sessions pulses saw them', async () => {
  const { add, key, path, read } = await ownerWithConnection();
  await add([ran(1, 1, 3), ran(2, 1, 2), ran(3, 1, 1)]);
  const seen = [
    ['1', 'shop'],
    ['3', 'shop'],
    ['2', 'worker'],
    ['2', ''],
    ['', 'psql'],
  ] as const;
  const sources = seen.map(([query, application]) => {
    const waits = { state: 'active', wait: '', event: '' } as const;
    const source = { ...waits, query, role: 'app', application, database: '' };
    return { id: hashSource(source), source, sessions: 1 };
  });
  const nothing = {
    blocked_sessions: 0,
    blocked_seconds: 0,
    end_blocked_sessions: 0,
    end_blocked_seconds: 0,
  };
  const counters = { commits: null, rollbacks: null, replica_lag: null };
  const minute = { at: new Date(), active: 4, idle_in_transaction: 0, ...nothing, ...counters, sources };
  await storeLoad(store.writer, key, minute, new Set());
  const listed = async (query: string) =>
    (await read<ConnectionQueries>(`${path}${query}`)).queries.map((one) => one.query);
  expect((await read<ConnectionQueries>(path)).applications).toEqual(['', 'shop', 'worker']);
  expect(await listed('')).toEqual(['1', '2', '3']);
  expect(await listed('?application=shop')).toEqual(['1', '3']);
  expect(await listed('?application=worker&role=app')).toEqual(['2']);
  expect(await listed('?application=psql')).toEqual([]);
  expect(await listed('?unnamed=application')).toEqual(['2']);
  const stranger = await ownerWithConnection();
  await stranger.add([ran(1, 1, 3)]);
  expect(await stranger.read<ConnectionQueries>(`${stranger.path}?application=shop`)).toMatchObject({
    queries: [],
    applications: [],
  });
});

test('the history of a query is its hours, of all databases or of one', async () => {
  const { add, path, read, refused } = await ownerWithConnection();
  await add([ran(7, 10, 1), { ...ran(7, 5, 2), database: 'logs' }, ran(8, 1, 1)]);
  const history = async (query: string) =>
    (await read<QueryHistory>(`${path}/history?query=${query}`)).hours.map(({ calls, seconds }) => [
      calls,
      seconds,
    ]);
  expect(await history('7')).toEqual([[15, 3]]);
  expect(await history('7&database=logs&role=app')).toEqual([[5, 2]]);
  expect(await history('9')).toEqual([]);
  expect(await refused(`${path}/history?query=${encodeURIComponent("1' or '1'='1")}`)).toEqual([
    400,
    'invalid_parameter',
    expect.any(String),
    'query',
  ]);
  const other = await ownerWithConnection();
  expect(await other.refused(`${path}/history?query=7`)).toEqual(notFound);
});
