import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { openPool } from './connect.ts';
import { migrate } from './migrate.ts';
import { errorFields, StoreUnavailable } from './store-failure.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startTestStore();
});

afterAll(() => store.stop());

async function names(statement: string): Promise<string[]> {
  const root = await store.superuser('store');
  const { rows } = await root.query<{ name: string }>(statement);
  return rows.map(({ name }) => name);
}

// Logins belong to no account: a login acts in each account that it is a member of. The API's role may not read them.
// The record of backups and the number of the cell belong to the store itself, and the directory finds the account of a key.
const OF_NO_ACCOUNT = [
  'asked_inbox',
  'cell',
  'challenge',
  'directory_key',
  'last_backup',
  'login',
  'passkey',
  'pulse_monitor',
  'session',
  'sign_in_failure',
  'unsubscribed',
];

const ours = `c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'migration'`;

// Tables of failed sign-ins and of the store itself. The reader and the console have no privilege on them.
const OF_NOBODY = ['asked_inbox', 'challenge', 'last_backup', 'sign_in_failure'];

test('every primary key begins with account_id, except those of sign-ins, of the directory and of the store itself', async () => {
  const others = await names(`
    select c.relname as name
      from pg_class c
      left join pg_index i on i.indrelid = c.oid and i.indisprimary
      left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
     where ${ours} and a.attname is distinct from 'account_id'
     order by c.relname`);
  expect(others).toEqual(OF_NO_ACCOUNT);
});

test('row-level security is forced on every table of an account or a person', async () => {
  const all = await names(`select relname as name from pg_class c where ${ours}`);
  const open = await names(
    `select relname as name from pg_class c where ${ours} and not (relrowsecurity and relforcerowsecurity) order by relname`,
  );
  expect(all.length).toBeGreaterThan(10);
  expect(open).toEqual(OF_NOBODY);
  const root = await store.superuser('store');
  const { rows } = await root.query(
    `select table_name, privilege_type from information_schema.role_table_grants
      where grantee = 'dbvitals_reader' and table_name = any($1)
         or grantee = 'dbvitals_console' and table_name = any($2)`,
    [OF_NO_ACCOUNT, OF_NOBODY],
  );
  expect(rows).toEqual([]);
});

test('four concurrent migrations of an empty database take turns', async () => {
  const root = await store.superuser();
  await root.query('create database four');
  const [address] = store.address;
  const applied = await Promise.all(
    Array.from({ length: 4 }, () => migrate([{ ...address, database: 'four' }])),
  );
  const files = readdirSync(new URL('../../migrations', import.meta.url));
  expect(applied.flat()).toEqual(files.toSorted().map((file) => file.replace('.sql', '')));
});

test('the log has only a line for an error of the store, and a stack for a bug of our own', async () => {
  const away = openPool([{ host: '/nowhere', port: 1 }], 'writer', { max: 1 });
  const refused = openPool([{ host: '127.0.0.1', port: 1 }], 'writer', { max: 1 });
  const hung = openPool(store.address, 'writer', { max: 1, statementTimeout: 50 });
  const at = (level: string) => ({ isLevelEnabled: (asked: string) => asked === level });
  for (const [pool, statement, reason] of [
    [away, 'select 1', /ENOENT/],
    [refused, 'select 1', /ECONNREFUSED/],
    [hung, 'select pg_sleep(5)', /timeout/i],
  ] as const) {
    const error: unknown = await pool.query(statement).catch((cause) => new StoreUnavailable('x', { cause }));
    expect(errorFields(error, at('info'))).toEqual({ reason: expect.stringMatching(reason) });
    expect(errorFields(error, at('debug')).stack).toMatch(/\n {4}at /);
    await pool.end();
  }
  const wrong: unknown = await store.writer.query('select nonsense').catch((error) => error);
  expect(errorFields(wrong, at('info'))).toEqual({
    reason: expect.stringContaining('nonsense'),
    stack: expect.stringMatching(/\n {4}at /),
  });
  const hostile = new Error('a\x9b31m\u2028b');
  expect(errorFields(hostile, at('info')).reason).toBe('a\\u009b31m\\u2028b');
});

test('a database whose settings write values otherwise gives the same values', async () => {
  const root = await store.superuser('store');
  const settings = {
    timezone: 'Asia/Kathmandu',
    datestyle: 'SQL, DMY',
    intervalstyle: 'iso_8601',
    bytea_output: 'escape',
    extra_float_digits: '-15',
    standard_conforming_strings: 'off',
  };
  const read = async () => {
    const pool = openPool(store.address, 'writer', { max: 1 });
    const { rows } = await pool.query(
      String.raw`select timestamptz '2026-11-29 20:15:00.123456Z'::text as at, interval '1 day 2 s'::text as span,
                        '\xde00'::bytea::text as bytes, (1 / 3::float8)::text as third, 'a\b' as text`,
    );
    await pool.end();
    return rows;
  };
  const before = await read();
  for (const [name, value] of Object.entries(settings))
    await root.query(`alter database store set ${name} = '${value}'`);
  try {
    expect(await read()).toEqual(before);
    expect(before[0]).toMatchObject({ at: '2026-11-29 20:15:00.123456+00', third: '0.3333333333333333' });
  } finally {
    await root.query('alter database store reset all');
  }
});
