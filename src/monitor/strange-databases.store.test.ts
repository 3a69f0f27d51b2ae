import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { startInBytes } from '../platform/unsafe/startup-encoding.ts';
import { type Key, runOnce } from './run-fixture.ts';
import { differingSettings, setOwn } from './session/postgres/own-settings.ts';
import type { StoredCheck } from './store-run.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
  const root = await store.superuser();
  await root.query('create table "Two words" (a int)');
  await root.query('create table keyless (a int)');
});
afterAll(() => store.stop());

const KEYLESS = 'PG_NO_PRIMARY_KEY';

/** The findings of a run: check, status, database and object. */
async function findingsOf(
  key: Key,
): Promise<{ check: string; status: string; database: string; object: string }[]> {
  const { rows } = await store.writer.query(
    `select f ->> 'check_id' as check, f ->> 'status' as status, f ->> 'database' as database,
            f ->> 'object' as object, f ->> 'metric_line' as line
       from connection c
       join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id,
            jsonb_array_elements(h.findings) f
      where c.account_id = $1`,
    [key.accountId],
  );
  return rows;
}

test('settings of the role, the database or the server change nothing', async () => {
  const key = await store.watched();
  const judged = async () => {
    await runOnce(store, key);
    return (await findingsOf(key)).map(({ check, status, object }) => `${check} ${status} ${object}`).sort();
  };
  await judged();
  const before = await judged();
  const root = await store.superuser();
  const settings = [
    'quote_all_identifiers = on',
    'row_security = off',
    'bytea_output = escape',
    "datestyle = 'SQL, DMY'",
    'intervalstyle = iso_8601',
    'extra_float_digits = -15',
    'standard_conforming_strings = off',
    "timezone = 'Asia/Kathmandu'",
    "search_path = 'nowhere'",
    'transform_null_equals = on',
    "work_mem = '64kB'",
    'default_transaction_isolation = serializable',
    'default_transaction_deferrable = on',
    'jit = on',
    'jit_above_cost = 0',
    'enable_nestloop = off',
    'enable_hashjoin = off',
    "statement_timeout = '1s'",
    "lock_timeout = '1s'",
    "lc_numeric = 'C'",
    "client_encoding = 'LATIN1'",
  ];
  for (const setting of settings) await root.query(`alter role watcher set ${setting}`);
  const planner = (line: string) => !line.startsWith('PG_PLANNER_OFF');
  try {
    expect((await judged()).filter(planner)).toEqual(before.filter(planner));
  } finally {
    await root.query('alter role watcher reset all');
  }
});

test('a run switches JIT and parallel workers off, and the planner back to its built-in settings', async () => {
  const session = await store.superuser();
  for (const setting of [
    'jit = on',
    'enable_hashjoin = off',
    "work_mem = '64kB'",
    'quote_all_identifiers = on',
  ])
    await session.query(`set ${setting}`);
  const { rows } = await session.query(differingSettings);
  await session.query(`begin; ${setOwn(rows).all}`);
  const { rows: now } = await session.query(
    `select name, setting, boot_val from pg_settings
      where name in ('jit', 'enable_hashjoin', 'max_parallel_workers_per_gather', 'work_mem', 'quote_all_identifiers')
      order by name collate "C"`,
  );
  expect(now).toEqual([
    { name: 'enable_hashjoin', setting: 'on', boot_val: 'on' },
    { name: 'jit', setting: 'off', boot_val: expect.any(String) },
    { name: 'max_parallel_workers_per_gather', setting: '0', boot_val: '2' },
    { name: 'quote_all_identifiers', setting: 'off', boot_val: 'off' },
    { name: 'work_mem', setting: '4096', boot_val: '4096' },
  ]);
  await session.query('rollback');
});

test('a name whose bytes are not UTF-8 costs no check, and no other database', async () => {
  const root = await store.superuser();
  await root.query(`create database raw encoding 'SQL_ASCII' template template0 locale 'C'`);
  const raw = await store.superuser('raw');
  const cafe = String.raw`convert_from('\x636166e9', 'SQL_ASCII')`;
  await raw.query(`set client_encoding = 'SQL_ASCII'`);
  await raw.query(`do $$ begin execute format('create table public.%I (a int)', ${cafe}); end $$`);
  await raw.query('create table beside (a int)');
  const { rows } = await raw.query(`select format('%I', ${cafe}) as name`);
  expect(rows[0]?.name).toContain('\ufffd');
  const key = await store.watched();
  await runOnce(store, key);
  const found = await findingsOf(key);
  expect(found.filter(({ status }) => status === 'error')).toEqual([]);
  const ofRaw = found.filter(({ check, database }) => check === KEYLESS && database === 'raw');
  expect(ofRaw.map(({ object }) => object).sort()).toEqual(['public."caf\ufffd"', 'public.beside'].sort());
  await raw.end();
  await root.query('drop database raw');
});

test.each([
  'MULE_INTERNAL',
  'EUC_JP',
  'EUC_JIS_2004',
  'EUC_KR',
  'EUC_CN',
  'EUC_TW',
  'WIN1251',
  'WIN1252',
  'KOI8R',
  'ISO_8859_5',
  'LATIN2',
  'SQL_ASCII',
])('a database of encoding %s is measured like any other', async (encoding) => {
  const root = await store.superuser();
  await root.query(`create database encoded encoding '${encoding}' template template0 locale 'C'`);
  const made = new pg.Client({
    ...store.address[0],
    database: 'encoded',
  });
  startInBytes(made);
  await made.connect();
  await made.query('create table keyless_here (a int)');
  await made.query(
    'create table with_index (a int); create index one on with_index (a); create index two on with_index (a)',
  );
  await made.end();
  const key = await store.watched();
  await runOnce(store, key);
  const found = await findingsOf(key);
  expect(found.filter(({ status }) => status === 'error')).toEqual([]);
  const here = found.filter(({ check, database }) => check === KEYLESS && database === 'encoded');
  expect(here.map(({ object }) => object).sort()).toEqual(['public.keyless_here', 'public.with_index']);
  await root.query('drop database encoded');
});

test('names of a LATIN1 database are shown as they are, beside a name of UTF-8 that LATIN1 lacks', async () => {
  const root = await store.superuser();
  await root.query(`create database latin encoding 'LATIN1' template template0 locale 'C'`);
  await root.query('create role "日本"');
  const latin = await store.superuser('latin');
  await latin.query('create table "café" (a int)');
  const key = await store.watched();
  await runOnce(store, key);
  const found = await findingsOf(key);
  expect(found.filter(({ status }) => status === 'error')).toEqual([]);
  const ofLatin = found.filter(({ check, database }) => check === KEYLESS && database === 'latin');
  expect(ofLatin.map(({ object }) => object)).toEqual(['public."café"']);
  await latin.end();
  await root.query('drop database latin');
  await root.query('drop role "日本"');
});

test('databases whose catalogue is locked cost no other database, and a second run adds no login that waits', async () => {
  const root = await store.superuser();
  const names = ['locked_a', 'locked_b', 'locked_c'];
  await root.query('create database zoo');
  const zoo = await store.superuser('zoo');
  await zoo.query('create table keyless_in_zoo (a int)');
  const holders = [];
  for (const name of names) {
    await root.query(`create database ${name}`);
    const holder = await store.superuser(name);
    await holder.query('begin');
    await holder.query('lock table pg_catalog.pg_class in access exclusive mode');
    holders.push(holder);
  }
  const waiting = async () =>
    (await root.query(`select from pg_locks where not granted and relation = 'pg_class'::regclass`)).rowCount;
  const key = await store.watched();
  const linesOf = (stored: StoredCheck) =>
    stored.checks.filter(({ check_id }) => check_id === KEYLESS).map(({ metric_line }) => metric_line);
  const [zooIsMeasured, areNamed] = [/keyless_in_zoo/, /^Database locked_a: .* Nor .* locked_b, locked_c\.$/];
  const first = linesOf(await runOnce(store, key));
  expect(first).toEqual(
    expect.arrayContaining([expect.stringMatching(zooIsMeasured), expect.stringMatching(areNamed)]),
  );
  const left = await waiting();
  expect(left).toBeGreaterThan(0);
  await setTimeout(10_000);
  const second = linesOf(await runOnce(store, key));
  expect(second.at(-1)).toMatch(
    /: a session locks its catalogue, so no session can log in; PG_BLOCKED_SESSIONS names it\. Nor/,
  );
  expect(second).toEqual(expect.arrayContaining([expect.stringMatching(zooIsMeasured)]));
  expect(await waiting()).toBe(left);
  for (const holder of holders) await holder.end();
  await zoo.end();
  for (const name of [...names, 'zoo']) await root.query(`drop database ${name} with (force)`);
});

/** Ends the session of a run that waits for a lock in the database. Throws if the run ends before. */
async function endWaiting(
  root: pg.Client,
  { database, query = '', running }: { database: string; query?: string; running: Promise<unknown> },
): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  running.then(end, end);
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
                      where datname = $1 and application_name = 'dbvitals' and wait_event_type = 'Lock'
                        and strpos(query, $2) > 0`;
  for (;;) {
    const { rowCount } = await root.query(terminate, [database, query]);
    if (rowCount) return;
    if (isOver) throw new Error('The run ended without waiting for the lock.');
    await setTimeout(2);
  }
}

test('a session that the server ends in its first statement is opened again', async () => {
  const root = await store.superuser();
  await root.query('create database brief');
  const holder = await store.superuser('brief');
  const key = await store.watched({ database: 'brief' });
  await holder.query('begin; lock table pg_catalog.pg_proc in access exclusive mode');
  const running = runOnce(store, key);
  await endWaiting(root, { database: 'brief', query: 'server_version_num', running });
  await holder.end();
  const { checks } = await running;
  expect(checks.filter(({ status }) => status === 'error')).toEqual([]);
  expect(checks.filter(({ check_id }) => check_id === 'CONN_UNREACHABLE')).toMatchObject([{ status: 'ok' }]);
  await root.query('drop database brief with (force)');
});

test('a session that the server ends costs its statement, and not the rest of the run', async () => {
  const root = await store.superuser();
  const holder = await store.superuser();
  const key = await store.watched();
  await holder.query('begin; lock table pg_catalog.pg_sequence in access exclusive mode');
  const running = runOnce(store, key);
  // A lock, since a statement that nothing holds up can be over before it is seen.
  await endWaiting(root, { database: root.database ?? '', running });
  await holder.end();
  const { checks } = await running;
  const failed = checks.filter(({ status }) => status === 'error');
  expect(failed.length).toBeGreaterThan(0);
  // The four checks of queries share a statement.
  expect(failed.length).toBeLessThan(6);
  expect(failed[0]?.metric_line).toMatch(/the server says “terminating connection .*” \(57P01\)/);
});

test('a database that can not be opened is named next to the faults of others, and counted', async () => {
  const root = await store.superuser();
  await root.query('create database cramped');
  await root.query('alter database cramped connection limit 1');
  await store.superuser('cramped');
  const key = await store.watched();
  const stored = await runOnce(store, key);
  const own = stored.checks.filter(({ check_id }) => check_id === KEYLESS);
  expect(own.map(({ status }) => status)).toEqual(['info', 'info', 'error']);
  expect(own.at(-1)?.metric_line).toMatch(
    /^Database cramped: Not measured: all connections of its own limit/,
  );
  expect(stored.checks.find(({ check_id }) => check_id === 'CONN_CHECKS_INCOMPLETE')).toMatchObject({
    status: 'info',
    metric_line: expect.stringMatching(/ in cramped failed\.$/),
  });
  await root.query('drop database cramped with (force)');
});
