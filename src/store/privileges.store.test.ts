import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { GRANTED, type Privilege, selectPrivileges } from './granted.ts';

const ROLES = Object.keys(GRANTED);

const RUN: Record<string, (table: string, column: string) => string> = {
  select: (table, column) => `select "${column}" from "${table}"`,
  insert: (table, column) => `insert into "${table}" ("${column}") values (default)`,
  update: (table, column) => `update "${table}" set "${column}" = default`,
};

let store: TestStore;
let root: pg.Client;
let privileges: Privilege[];
const clients = new Map<string, pg.Client>();

beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser('store');
  ({ rows: privileges } = await root.query(selectPrivileges, [ROLES]));
  // Logged in as the roles themselves, so that no other role's rights apply.
  for (const role of ROLES) {
    await root.query(`alter role ${role} login password 'itself'`);
    const [address] = store.address;
    const client = new pg.Client({ ...address, user: role, password: 'itself' });
    await client.connect();
    clients.set(role, client);
  }
});

afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.end()));
  await store.stop();
});

/** Runs a statement, rolls it back, and returns the code of its error. */
async function codeOf(role: string, statement: string): Promise<unknown> {
  const client = clients.get(role);
  await client?.query('begin');
  const failed = await client?.query(statement).then(
    () => null,
    (error: unknown) => error,
  );
  await client?.query('rollback');
  return failed instanceof pg.DatabaseError ? failed.code : failed;
}

describe.each(ROLES)('%s', (role) => {
  test('has exactly the listed privileges', () => {
    const found = privileges
      .filter((of) => of.role === role && of.granted !== null)
      .map(({ table, what, whole, granted }) => ({
        table,
        grant: whole ? what : `${what} (${granted?.join(', ')})`,
      }));
    const byTable = Object.entries(Object.groupBy(found, ({ table }) => table));
    expect(
      Object.fromEntries(byTable.map(([table, of]) => [table, of?.map(({ grant }) => grant).join(', ')])),
    ).toEqual(GRANTED[role]);
  });

  test('every statement without a privilege on its table is denied', async () => {
    const allowed: string[] = [];
    let tried = 0;
    for (const { table, what, whole, refused } of privileges.filter((of) => of.role === role)) {
      const statements =
        what in RUN
          ? (refused ?? []).map((column) => RUN[what]?.(table, column) ?? '')
          : whole || !/^(delete|truncate)$/.test(what)
            ? []
            : [what === 'delete' ? `delete from "${table}"` : `truncate "${table}"`];
      for (const statement of statements) {
        tried += 1;
        if ((await codeOf(role, statement)) !== '42501') allowed.push(statement);
      }
    }
    expect(allowed).toEqual([]);
    expect(tried).toBeGreaterThan(100);
  });

  test.each([
    'create table x ()',
    'create schema x',
    'create function x() returns int language sql as $$ select 1 $$',
    'create extension file_fdw',
    'create role x',
    `alter role ${role} superuser`,
    'alter table activity disable row level security',
    'alter table activity disable trigger all',
    'drop policy own_account on activity',
    'drop table activity',
    'create trigger x after insert on activity execute function raise_generation()',
    `set role ${ROLES.find((other) => other !== role)}`,
    'set role postgres',
    'set session authorization postgres',
    'set session_replication_role = replica',
    'set local row_security = off; select from account',
    'set log_statement = none',
    `select pg_read_file('postgresql.conf')`,
    `select pg_read_binary_file('PG_VERSION')`,
    `select pg_ls_dir('.')`,
    `select lo_import('/etc/hostname')`,
    `copy activity to program 'true'`,
    `copy activity to '/tmp/stolen'`,
    `copy member from '/etc/hostname'`,
    'select rolpassword from pg_authid',
    'select umuser from pg_user_mapping',
    'select from migration',
    `select nextval('api_key_api_key_id_seq')`,
    `select setval('account_account_id_seq', 1)`,
    'select pg_reload_conf()',
    'select pg_switch_wal()',
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'postgres'`,
  ])('may not: %s', async (statement) => {
    expect(await codeOf(role, statement)).toBe('42501');
  });
});

test('no function runs with the rights of its owner', async () => {
  const { rows } = await root.query(`
    select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`);
  expect(rows).toEqual([]);
});

test.each(['dbvitals_reader', 'dbvitals_console'])(
  '%s without an account or person set sees no row',
  async (role) => {
    await store.account();
    await root.query(`insert into login (account_id, email, name) values (1, $1, 'Ada')`, [
      `${role}@example.com`,
    ]);
    const { rows } = await root.query(
      `select distinct tablename from pg_policies where policyname in ('own_account', 'own_login')`,
    );
    const open = new Set(Object.keys(GRANTED[role] ?? {}));
    const seen: string[] = [];
    for (const { tablename } of rows.filter((row) => open.has(row.tablename))) {
      const found = await clients.get(role)?.query(`select count(*) as seen from ${tablename}`);
      expect(found?.rows, tablename).toEqual([{ seen: 0 }]);
      seen.push(tablename);
    }
    expect(seen.toSorted()).toEqual([...open].toSorted());
  },
);
