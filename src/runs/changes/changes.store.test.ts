import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Key, runOnce } from '../../monitor/run-fixture.ts';
import { changesOf, found as foundIn, NOTHING } from './changes-fixture.ts';

let store: TestStore;
let root: pg.Client;
let shop: pg.Client;
beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser();
  await root.query('create database shop');
  await root.query('create role app login');
  shop = await store.superuser('shop');
  await shop.query(`
    create table customers (id bigint primary key, email text);
    create table orders (id bigint primary key, customer bigint references customers, total int default 0);
    create index orders_customer on orders (customer) where total > 0`);
});
afterAll(() => store.stop());

const found = (key: Key, work: () => Promise<unknown>) => foundIn(store, key, work);

async function watchedShop(): Promise<Key> {
  const key = await store.watched({ database: 'shop' });
  await runOnce(store, key);
  return key;
}

test('the first run and one without a change find none', async () => {
  const key = await watchedShop();
  expect(await changesOf(store, key)).toEqual([]);
  expect(await found(key, async () => {})).toEqual([]);
  const { rows } = await store.writer.query(
    'select kind, database, jsonb_array_length(facts -> $3) as facts from fact_snapshot where account_id = $1 and connection_id = $2 order by 1, 2',
    [key.accountId, key.connectionId, 'facts'],
  );
  expect(rows.map(({ kind, database }) => `${kind} ${database}`)).toEqual([
    'extension postgres',
    'extension shop',
    'extension store',
    'role_setting ',
    'schema postgres',
    'schema shop',
    'schema store',
    'schema_skipped postgres',
    'schema_skipped shop',
    'schema_skipped store',
    'server ',
    'setting ',
    'standby ',
  ]);
});

/** When a new session's settings were read. */
async function loadedAt(): Promise<string> {
  const client = await store.superuser();
  const { rows } = await client.query<{ at: string }>('select pg_conf_load_time()::text as at');
  await client.end();
  return rows[0]?.at ?? '';
}

test('ALTER SYSTEM is one change with both values and its source', async () => {
  const key = await watchedShop();
  const change = async (statement: string) => {
    await root.query(statement);
    const before = await loadedAt();
    await root.query('select pg_reload_conf()');
    await expect.poll(loadedAt).not.toBe(before);
  };
  expect(await found(key, () => change(`alter system set work_mem = '64MB'`))).toEqual([
    {
      ...NOTHING,
      kind: 'setting',
      subject: 'work_mem',
      before: '4MB',
      after: '64MB',
      source: 'ALTER SYSTEM',
    },
  ]);
  expect(await found(key, () => change('alter system reset work_mem'))).toEqual([
    { ...NOTHING, kind: 'setting', subject: 'work_mem', before: '64MB', after: '4MB', source: 'default' },
  ]);
});

test('settings of roles and databases come, change and go', async () => {
  const key = await watchedShop();
  const ofRole = { ...NOTHING, kind: 'setting', subject: 'work_mem (role app)', source: 'role app' };
  expect(await found(key, () => root.query(`alter role app set work_mem = '8MB'`))).toEqual([
    { ...ofRole, after: '8MB' },
  ]);
  expect(await found(key, () => root.query(`alter role app set work_mem = '9MB'`))).toEqual([
    { ...ofRole, before: '8MB', after: '9MB' },
  ]);
  expect(await found(key, () => root.query('alter role app reset work_mem'))).toEqual([
    { ...ofRole, before: '9MB' },
  ]);
  expect(await found(key, () => root.query(`alter database shop set jit = off`))).toEqual([
    { ...NOTHING, kind: 'setting', subject: 'jit', database: 'shop', after: 'off', source: 'database shop' },
  ]);
});

test('an extension that came, and schema objects that came, changed and went', async () => {
  const key = await watchedShop();
  const inShop = { ...NOTHING, database: 'shop' };
  expect(await found(key, () => shop.query('create extension pg_trgm'))).toEqual([
    { ...inShop, kind: 'extension', subject: 'pg_trgm', after: expect.stringMatching(/^\d+\.\d+$/) },
  ]);
  expect(await found(key, () => shop.query('drop index orders_customer'))).toEqual([
    {
      ...inShop,
      kind: 'index',
      subject: 'public.orders_customer',
      before: expect.stringMatching(/^btree on public\.orders \(customer\) where [0-9a-f]{8}$/),
    },
  ]);
  expect(
    await found(key, () =>
      shop.query('create unique index concurrently x on orders (customer desc, (id + 1))'),
    ),
  ).toEqual([
    {
      ...inShop,
      kind: 'index',
      subject: 'public.x',
      after: expect.stringMatching(
        /^unique btree on public\.orders \(customer desc, expression [0-9a-f]{8}\)$/,
      ),
    },
  ]);
  const total = { ...inShop, kind: 'column', subject: 'public.orders.total' };
  expect(await found(key, () => shop.query('alter table orders alter total type bigint'))).toEqual([
    { ...total, before: 'integer default 0', after: 'bigint default 0' },
  ]);
  expect(await found(key, () => shop.query('alter table orders alter total set not null'))).toContainEqual({
    ...total,
    before: 'bigint default 0',
    after: 'bigint not null default 0',
  });
  const constraint = { ...inShop, kind: 'constraint', subject: 'positive on public.orders' };
  expect(
    await found(key, () =>
      shop.query('alter table orders add constraint positive check (total > 0) not valid'),
    ),
  ).toEqual([{ ...constraint, after: expect.stringMatching(/^check \(total\) [0-9a-f]{8} not valid$/) }]);
  expect(await found(key, () => shop.query('drop table orders'))).toEqual([
    { ...inShop, kind: 'table', subject: 'public.orders', before: 'table' },
  ]);
});

test('a trigger that was disabled', async () => {
  await shop.query(`
    create table audited (id int primary key);
    create function audit() returns trigger language plpgsql as 'begin return new; end';
    create trigger audit before insert on audited for each row execute function audit()`);
  const key = await watchedShop();
  expect(await found(key, () => shop.query('alter table audited disable trigger audit'))).toEqual([
    {
      kind: 'trigger',
      database: 'shop',
      subject: 'audit on public.audited',
      source: null,
      before: 'enabled',
      after: 'disabled',
    },
  ]);
});

test('reading a schema does not wait for a table that is locked', async () => {
  await shop.query(
    `create table locked (id int primary key default 1, n int check (n > 0)); create index on locked ((n + 1))`,
  );
  const key = await watchedShop();
  const holder = await store.superuser('shop');
  await holder.query('begin; alter table locked add column added int');
  const changes = await found(key, () => shop.query('create table beside (id int primary key)'));
  await holder.query('rollback');
  expect(changes).toEqual([
    { ...NOTHING, database: 'shop', kind: 'table', subject: 'public.beside', after: 'table' },
  ]);
});

test('more than 200 changes of a schema end with a count', async () => {
  const key = await watchedShop();
  const tables = Array.from({ length: 230 }, (_, n) => `create table many_${n} ()`).join(';');
  const changes = await found(key, () => shop.query(tables));
  expect(changes).toHaveLength(201);
  expect(changes.at(-1)).toEqual({
    ...NOTHING,
    kind: 'more',
    database: 'shop',
    subject: 'schema',
    after: '30 more',
  });
});

test('a restart is one change', async () => {
  const key = await watchedShop();
  const [changes] = [
    await found(key, async () => {
      await store.halt();
      await store.start();
    }),
  ];
  expect(changes).toEqual([
    {
      ...NOTHING,
      kind: 'restart',
      subject: 'server',
      before: expect.stringMatching(/Z$/),
      after: expect.stringMatching(/Z$/),
    },
  ]);
});
