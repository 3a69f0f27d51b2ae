import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/store.ts';
import { migrate } from './migrate.ts';

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

const ours = `c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname <> 'migration'`;

test('every primary key begins with account_id', async () => {
  const others = await names(`
    select c.relname as name
      from pg_class c
      left join pg_index i on i.indrelid = c.oid and i.indisprimary
      left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
     where ${ours} and a.attname is distinct from 'account_id'`);
  expect(others).toEqual([]);
});

test('row-level security is forced on every table', async () => {
  const all = await names(`select relname as name from pg_class c where ${ours}`);
  const open = await names(
    `select relname as name from pg_class c where ${ours} and not (relrowsecurity and relforcerowsecurity)`,
  );
  expect(all.length).toBeGreaterThan(10);
  expect(open).toEqual([]);
});

describe('least privilege', () => {
  test.each([
    ['dbvitals_reader', 'select hash from api_key'],
    ['dbvitals_reader', 'select credential from connection'],
    ['dbvitals_reader', 'select from credential_key'],
    ['dbvitals_reader', 'select from key_window'],
    ['dbvitals_reader', 'select from connection_schedule'],
    ['dbvitals_reader', 'insert into activity_head (account_id) values (1)'],
    ['dbvitals_reader', `update account set name = 'x'`],
    ['dbvitals_reader', 'delete from ticket'],
    ['dbvitals_writer', `update activity set page_path = '/x'`],
    ['dbvitals_writer', 'delete from activity'],
    ['dbvitals_writer', 'truncate activity'],
    ['dbvitals_writer', 'delete from api_key'],
    ['dbvitals_writer', 'insert into activity_floor values (1, 1, 1)'],
    ['dbvitals_writer', 'update activity_floor set first_id = 1'],
    ['dbvitals_writer', 'update health_check set score = 100'],
    ['dbvitals_writer', 'update health_check set findings = null'],
    ['dbvitals_writer', 'delete from account'],
    ['dbvitals_writer', 'create table x ()'],
  ])('%s may not: %s', async (role, statement) => {
    const client = await store.superuser('store');
    await client.query(`set role ${role}`);
    await expect(client.query(statement)).rejects.toThrow(/permission denied/);
  });

  test('the reader that was set to no account sees no row', async () => {
    await store.account();
    const client = await store.superuser('store');
    await client.query('set role dbvitals_reader');
    expect((await client.query('select from account')).rowCount).toBe(0);
  });
});

test('four migrations at once of an empty database take turns', async () => {
  const root = await store.superuser();
  await root.query('create database four');
  const [address] = store.address;
  const applied = await Promise.all(
    Array.from({ length: 4 }, () => migrate([{ ...address, database: 'four' }])),
  );
  const files = readdirSync(new URL('../../migrations', import.meta.url));
  expect(applied.flat()).toEqual(files.toSorted().map((file) => file.replace('.sql', '')));
});
