import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  SUPERUSER_PASSWORD,
  startTestStore,
  type TestStore,
  WATCHER_PASSWORD,
} from '../../../test/support/store.ts';
import { LIMITS } from '../limits.ts';
import { diallerOf } from '../session/dial.ts';
import { openPostgresSession } from '../session/postgres-session.ts';
import type { Target } from '../session/session.ts';
import { lineOf, measureStatements } from './own-checks-fixture.ts';

let store: TestStore;
let root: Awaited<ReturnType<TestStore['superuser']>>;
let folder: string;

const target = (given: Partial<Target> = {}): Target => ({
  engine: 'postgres',
  connectionType: 'unix_socket',
  host: store.address[0]?.host ?? '',
  port: 5432,
  database: 'shop',
  // The worst login that a team could have given to dbvitals.
  username: 'postgres',
  password: SUPERUSER_PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
  ...given,
});

beforeAll(async () => {
  store = await startTestStore();
  await (await store.superuser()).query('create database shop');
  root = await store.superuser('shop');
  folder = store.address[0]?.host ?? '';
  await root.query(`
    create table orders (id int, email text);
    insert into orders values (1, 'ada@example.com');
    create sequence numbers;
    create function writes() returns int language sql volatile as $$ insert into orders values (2, '') returning 1 $$;
    create function slow() returns int language sql as $$ select 1 from pg_sleep(20) $$;
    create function raises() returns int language plpgsql as
      $$ begin raise exception '%', (select email from orders); end $$;
    create view sleeping as select slow() as value;
  `);
});
afterAll(() => store.stop());

// What each statement comes to: refused before it is sent, refused by the server, or bounded.
const HOSTILE: [statement: string, reason: string][] = [
  ['select 1 as value; select 2 as value', 'several statements'],
  ['select 1 as value; delete from orders', 'several statements'],
  ['select 1 as value /* ; */; -- nothing\n drop table orders', 'several statements'],
  ["select 'a;b' as object, 1 as value; commit", 'several statements'],
  ['select 1 as value /* a /* b */ ; delete from orders', 'A comment in the statement does not end'],
  ['select $$ as value; delete from orders', 'does not end'],
  ['delete from orders', 'begins with DELETE'],
  ['insert into orders values (3) returning id as value', 'begins with INSERT'],
  ['drop table orders', 'begins with DROP'],
  ['commit', 'begins with COMMIT'],
  ['rollback', 'begins with ROLLBACK'],
  ['set transaction read write', 'begins with SET'],
  ['do $$ begin delete from orders; end $$', 'begins with DO'],
  ["copy orders to program 'touch /tmp/own-check'", 'begins with COPY'],
  ['prepare p as delete from orders', 'begins with PREPARE'],
  ['explain analyze delete from orders', 'begins with EXPLAIN'],
  ['call writes()', 'begins with CALL'],
  ['with gone as (delete from orders returning 1) select count(*) as value from gone', 'data-modifying'],
  ['select id as value into copied from orders', 'has INTO'],
  ['select id as value from orders for update', 'locks rows'],
  ['select id as value from orders for no key update', 'locks rows'],
  ['select writes() as value', 'writes'],
  ["select nextval('numbers') as value", 'calls nextval'],
  [`select "nextval"('numbers') as value`, 'calls nextval'],
  [`select U&"\\006eextval"('numbers') as value`, 'U&'],
  ["select length(set_config('transaction_read_only', 'off', false)) as value", 'calls set_config'],
  ['select lo_create(4711)::bigint as value', 'calls lo_create'],
  ['select 1 as value from pg_advisory_lock(4711)', 'calls pg_advisory_lock'],
  ["select pg_read_file('PG_VERSION') as object, 1 as value", 'calls pg_read_file'],
  ["select count(*) as value from dblink('', 'delete from orders') as t(a int)", 'calls dblink'],
  ['select pg_terminate_backend(pid)::int as value from pg_stat_activity', 'calls pg_terminate_backend'],
  ["select length(query_to_xml('select 1', true, true, '')::text) as value", 'calls query_to_xml'],
  ['select 1 as value from pg_sleep(60)', 'calls pg_sleep'],
  ['/*+ Set(statement_timeout 0) */ select 1 as value', 'comment that the server obeys'],
  ['select value from sleeping', 'it took more than 1 s'],
  ['select count(*) as value from generate_series(1, 1000000000000)', 'it took more than 1 s'],
  [
    "select repeat('x', 200) || i as object, i as value from (select generate_series(1, 100000000)) as s(i)",
    'larger than 64 KiB',
  ],
  ['select i::text as object, i as value from generate_series(1, 101) i', 'more than 100 rows'],
  ['select email as value from orders', 'its column value is not a number'],
  ['select 1 as value, email from orders', 'value and object only'],
  ['select 1 as count', 'no column named value'],
  ['select 1 as value, 2 as value', 'two columns of one name'],
  ['select 1 as value where false', 'it gives no row'],
  ['select null::int as value', 'its value is NULL'],
  ["select 'NaN'::float8 as value", 'not a finite number'],
  ["select '-Infinity'::numeric as value", 'not a finite number'],
  ['select 1e200::float8 as value', 'larger than 1e30'],
  ["select 'a' as object, 1 as value union all select 'a', 2", 'the same object'],
  ['select 1 / 0 as value', 'SQLSTATE 22012'],
  ['select email::int as value from orders', 'SQLSTATE 22P02'],
  ['select raises() as value', 'SQLSTATE P0001'],
  ['select value from nothing', 'relation "nothing" does not exist'],
  ['', 'is empty'],
];

test('each hostile statement is refused or bounded, with a sentence, even as a superuser', async () => {
  const outcomes = await measureStatements(
    target(),
    HOSTILE.map(([statement]) => statement),
  );
  const lines = outcomes.map(lineOf);
  const unexpected = HOSTILE.map(([statement, reason], place) => ({
    statement,
    reason,
    line: lines[place] ?? '',
    measured: outcomes[place]?.measured,
  })).filter(
    ({ reason, line, measured }) =>
      !line.toLowerCase().includes(reason.toLowerCase()) || !/^[A-Z].*\.$/s.test(line) || measured !== false,
  );
  expect(unexpected).toEqual([]);
  expect(lines.join()).not.toContain('ada@example.com');
  await expectUntouched();
});

test('a login without the privilege is told what it lacks', async () => {
  const watcher = target({ username: 'watcher', password: WATCHER_PASSWORD });
  const [denied] = await measureStatements(watcher, ['select count(*) as value from orders']);
  expect(denied?.findings[0]?.status).toBe('skipped');
  expect(lineOf(denied)).toBe(
    'Not measured: the login lacks a privilege (the server says “permission denied for table orders” (42501)).',
  );
});

test('the server writes nothing of a statement that no reading refused', async () => {
  const refused = [
    'select 1 as value; delete from orders',
    'select writes() as value',
    "select nextval('numbers') as value",
    "select set_config('transaction_read_only', 'off', false), writes() as value",
    'with gone as (delete from orders returning 1) select 1 as value from gone',
    'select * from orders for update',
    "copy orders to program 'touch own-check'",
    'do $$ begin delete from orders; end $$',
    'select id into copied from orders',
    'select slow() as value',
    'select 1 as value into temp copied from orders',
    'select 1) as x; delete from orders; select * from (select 1',
    'set transaction read write',
    'commit',
  ];
  for (const statement of refused) {
    await expect(alone(statement), statement).rejects.toThrow();
  }
  // Of these nothing stays: the transaction is rolled back, and the session ends.
  for (const statement of ['select lo_create(4711)', 'select pg_advisory_lock(4711)']) {
    await alone(statement).catch(() => {});
  }
  await expectUntouched();
});

test('a statement that does not end leaves no process on the server', async () => {
  await root.query(`
    create function stubborn() returns int language plpgsql as $$
      begin
        loop
          begin perform pg_sleep(30); exception when query_canceled then null; end;
        end loop;
      end $$;
    create view hung as select stubborn() as value`);
  const [hung, next] = await measureStatements(target(), ['select value from hung', 'select 1 as value']);
  expect(lineOf(hung)).toBe('Not measured: it took more than 1 s.');
  expect(lineOf(next)).toMatch(/^1 \(/);
  const running = `select count(*)::int as count from pg_stat_activity where query like '%hung%' and pid <> pg_backend_pid()`;
  await expect.poll(async () => (await root.query(running)).rows[0].count, { interval: 200 }).toBe(0);
});

test('a statement that somebody cancels is not said to have taken too long', async () => {
  const measured = measureStatements(target(), ['select value from sleeping'], 10);
  const cancel = `
    select pg_cancel_backend(pid)
      from pg_stat_activity
     where query like '%from sleeping%' and state = 'active' and pid <> pg_backend_pid()`;
  await expect.poll(async () => (await root.query(cancel)).rowCount).toBe(1);
  const [cancelled] = await measured;
  expect(lineOf(cancelled)).toBe('Not measured: its statement was cancelled on the server.');
});

/** Runs a statement in a session to itself, as an own check does that was not read before. */
async function alone(statement: string): Promise<unknown> {
  const dialler = diallerOf(target(), true);
  const signal = AbortSignal.timeout(20_000);
  const endpoint = { host: target().host, port: target().port };
  const stream = await dialler.dial(endpoint, signal);
  const limits = { ...LIMITS, statementMs: 500, answerMs: 2_500 };
  const meter = { bytes: 0, statements: 0, milliseconds: 0 };
  const route = { ...endpoint, stream, meter, limits };
  const session = await openPostgresSession(target(), 'shop', route, { connecting: signal, signal });
  try {
    return await session.readOwn(statement);
  } finally {
    await session.close();
    dialler.close();
  }
}

async function expectUntouched(): Promise<void> {
  const { rows } = await root.query(`
    select (select count(*) from orders)::int as orders,
           (select is_called from numbers) as advanced,
           (select count(*) from pg_largeobject_metadata)::int as objects,
           (select count(*) from pg_locks where locktype = 'advisory')::int as locks,
           to_regclass('copied') as copied,
           (select count(*) from pg_stat_activity where application_name = 'dbvitals' and state <> 'idle'
               and datname = 'shop' and pid <> pg_backend_pid())::int as running`);
  expect(rows[0]).toEqual({ orders: 1, advanced: false, objects: 0, locks: 0, copied: null, running: 0 });
  expect(existsSync(join(folder, 'own-check'))).toBe(false);
}
