import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/store.ts';

/** What each role may do, as GRANT has it; a table that is not named, not at all. */
const GRANTED: Record<string, Record<string, string>> = {
  // Who answers requests: it sees no key's hash, no credential, nothing of the schedule, and changes nothing.
  dbvitals_reader: {
    account: 'select',
    activity: 'select',
    activity_floor: 'select',
    activity_head: 'select',
    activity_type_head: 'select',
    api_key: 'select (account_id, api_key_id, name)',
    connection:
      'select (account_id, connection_id, name, engine, connection_type, host, port, latest_check_id, removed_at, latest_score)',
    connection_schedule: 'select (account_id, connection_id, every, due_at, claimed_until)',
    connection_trend: 'select',
    health_check: 'select',
    member: 'select',
    silence: 'select',
    ticket: 'select',
    ticket_tally: 'select',
    ticket_week: 'select',
  },
  // Who reads for the console's pages: one account or one person at a time, and no hash, token, password or key.
  dbvitals_console: {
    account: 'select',
    activity: 'select',
    activity_floor: 'select',
    activity_head: 'select',
    activity_leaves: 'select',
    activity_seal: 'select',
    activity_type_head: 'select',
    api_key:
      'select (account_id, api_key_id, name, last_four, created_at, expires_at, revoked_at, replaced_by, valid_until, note, created_by)',
    connection:
      'select (account_id, connection_id, name, engine, connection_type, host, port, database, username, tls, latest_check_id, created_at, removed_at, thresholds, expected_standbys, password_exposable, ca_certificate, ssh_host, ssh_port, ssh_username, ssh_host_key, latest_score, version, has_credential, has_ssh_credential)',
    connection_schedule: 'select (account_id, connection_id, every, due_at, claimed_until)',
    connection_trend: 'select',
    health_check: 'select',
    key_counted: 'select',
    key_hour: 'select',
    key_window: 'select',
    link: 'select (account_id, purpose, member_id, created_by, created_at, expires_at, used_at)',
    login: 'select (login_id, email, name, oidc_issuer, oidc_subject, created_at, has_password)',
    member: 'select',
    passkey: 'select (credential_id, login_id, name, transports, created_at, last_used_at)',
    session:
      'select (session_id, login_id, account_id, created_at, last_seen_at, expires_at, source_ip, user_agent)',
    silence: 'select',
    ticket: 'select',
    ticket_tally: 'select',
    ticket_week: 'select',
  },
  // The gate, the monitor, the console and the commands: the log, the seals and past health checks stay as they were written.
  dbvitals_writer: {
    account: 'select, insert, update',
    activity: 'select, insert',
    activity_floor: 'select',
    activity_head: 'select, insert, update',
    activity_leaves: 'select',
    activity_seal: 'select',
    activity_type_head: 'select, insert, update',
    api_key: 'select, insert, update',
    challenge: 'insert',
    connection: 'select, insert, update',
    connection_schedule: 'select, insert, update',
    connection_trend: 'select, insert, update',
    counter_sample: 'select, insert, update, delete',
    credential_key: 'select, insert, update',
    health_check: 'select, insert',
    key_counted: 'select, insert, update',
    key_hour: 'select, insert, update',
    key_window: 'select, insert, update',
    last_backup: 'select',
    link: 'select, insert, update (used_at)',
    login: 'select, insert, update',
    member: 'select, insert, update, delete',
    passkey: 'select, insert, update (name, counter, last_used_at), delete',
    session: 'select, insert, update (account_id, last_seen_at), delete',
    sign_in_failure: 'select, insert, delete',
    silence: 'select, insert, update',
    ticket:
      'select, insert, update (category, title, severity, status, metric_line, remediation, last_seen_at, resolved_at, resolution, clean_runs, reopened_at)',
    ticket_tally: 'select, insert, update',
    ticket_week: 'select, insert, update',
  },
};
const ROLES = Object.keys(GRANTED);

interface Privilege {
  role: string;
  table: string;
  /** Lower case, such as select. */
  what: string;
  /** On the whole table. */
  whole: boolean;
  /** Columns that it holds of, and those that it does not; null = none. */
  granted: string[] | null;
  refused: string[] | null;
}

// Asked of the catalog, and not of information_schema: what PUBLIC has counts too.
const selectPrivileges = `
  select r.role, c.relname as table, p.what, has_table_privilege(r.role, c.oid, p.what) as whole,
         array_agg(a.attname::text order by a.attnum) filter (where may) as granted,
         array_agg(a.attname::text order by a.attnum) filter (where not may) as refused
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
   cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger'])
         with ordinality p (what, place)
   cross join unnest($1::text[]) r (role)
   cross join lateral (select case when p.what in ('select', 'insert', 'update', 'references')
                                   then has_column_privilege(r.role, c.oid, a.attnum, p.what)
                                   else has_table_privilege(r.role, c.oid, p.what) end as may) m
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
   group by r.role, c.oid, c.relname, p.what, p.place
   order by r.role, c.relname, p.place`;

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
  // Logged in as the roles themselves: nobody's rights are behind theirs.
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

/** The code of the error that a statement ends with; what it changed is undone. */
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
  test('may do what stands here, and no more', () => {
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

  test('every statement on a table that is not granted is refused', async () => {
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

test('no function lends the rights of its owner', async () => {
  const { rows } = await root.query(`
    select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace and prosecdef`);
  expect(rows).toEqual([]);
});

test.each(['dbvitals_reader', 'dbvitals_console'])('%s that was set to nothing sees no row', async (role) => {
  await store.account();
  await root.query(`insert into login (email, name) values ($1, 'Ada')`, [`${role}@example.com`]);
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
});
