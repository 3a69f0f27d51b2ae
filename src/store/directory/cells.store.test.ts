import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addAccount } from '../../accounts/add-account.ts';
import { addKey } from '../../accounts/keys/add-key.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { hashKey } from '../../platform/api-key.ts';
import { cellOf } from '../open.ts';
import { claimCell, IDS_OF_CELL } from './claim-cell.ts';
import { correctDirectory } from './correct-directory.ts';
import {
  addAccountPlace,
  addKeyPlace,
  changeAccountPlace,
  findAccountPlace,
  findKeyPlaces,
} from './directory.ts';
import { fillDirectory } from './fill-directory.ts';
import { KeyPlaces } from './key-places.ts';

let first: TestStore;
let second: TestStore;
const company = { kind: 'company', plan: 'business', requests_per_minute: null } as const;
const wanted = { name: 'a key', lifetime: null };

beforeAll(async () => {
  [first, second] = await Promise.all([startTestStore(), startTestStore()]);
});
afterAll(() => Promise.all([first.stop(), second.stop()]));

test('a store becomes one cell, once', async () => {
  await claimCell(second.address, 2);
  await claimCell(second.address, 2);
  expect(await cellOf(second.writer)).toBe(2);
  await expect(claimCell(second.address, 3)).rejects.toThrow(
    'DBVITALS_CELLS_FILE names the store of cell 2 as cell 3, and nothing was changed',
  );
});

test('its identifiers start at (n - 1) × 2^44, also those of a later table', async () => {
  const { id } = await addAccount(second.writer, { name: 'in cell 2', ...company });
  expect(id).toBe(IDS_OF_CELL + 1);
  const key = await changeAccount(second.writer, id, (change) => addKey(change, wanted));
  expect(key.id).toBe(IDS_OF_CELL + 1);
  const owner = await second.superuser('store');
  await owner.query('create table later (later_id bigint generated always as identity, what int)');
  await claimCell(second.address, 2);
  expect((await owner.query('insert into later (what) values (1) returning later_id')).rows).toEqual([
    { later_id: IDS_OF_CELL + 1 },
  ]);
  await owner.query('drop table later');
  // Sequences in use stay where they are.
  const other = await addAccount(second.writer, { name: 'also in cell 2', ...company });
  expect(other.id).toBe(IDS_OF_CELL + 2);
  expect(255 * IDS_OF_CELL).toBeLessThan(Number.MAX_SAFE_INTEGER);
});

test('a store with accounts can become cell 1 only, and fills the directory', async () => {
  const account = await first.account();
  const { key } = await changeAccount(first.writer, account, (change) => addKey(change, wanted));
  await expect(claimCell(first.address, 3)).rejects.toThrow(
    'The store of cell 3 holds accounts already, with the identifiers of cell 1: make it cell 1, or name an empty database in DBVITALS_CELLS_FILE.',
  );
  const fill = () => fillDirectory(first.writer, first.writer, 1);
  await expect(claimCell(first.address, 1, async () => Promise.reject(new Error('killed')))).rejects.toThrow(
    'killed',
  );
  expect(await cellOf(first.writer)).toBeNull();
  await claimCell(first.address, 1, fill);
  expect(await cellOf(first.writer)).toBe(1);
  expect(await findAccountPlace(first.writer, account)).toEqual({ cellId: 1, state: 'here' });
  const places = await findKeyPlaces(first.writer, [hashKey(key), hashKey('another')]);
  expect([...places.values()]).toEqual([{ accountId: account, cellId: 1, state: 'here' }]);
  expect(await fill()).toEqual({ accounts: 0, keys: 0 });
});

test("the owner of a cell can't add its keys to an account of another cell, and can't take that account", async () => {
  const account = await first.account();
  await addAccountPlace(first.writer, account, 1);
  const hostile = await second.superuser('store');
  await hostile.query(
    `insert into account (account_id, name, kind, plan) overriding system value values ($1, 'x', 'company', 'team')`,
    [account],
  );
  await hostile.query(
    `insert into api_key (account_id, name, hash, last_four, created_at) values ($1, 'x', $2, 'abcd', now())`,
    [account, hashKey('hostile')],
  );
  await hostile.query('insert into activity_head (account_id) values ($1)', [account]);
  await correctDirectory(first.writer, [
    { id: 1, client: first.writer },
    { id: 2, client: second.writer },
  ]);
  await fillDirectory(first.writer, second.writer, 2);
  expect(await findAccountPlace(first.writer, account)).toEqual({ cellId: 1, state: 'here' });
  expect((await findKeyPlaces(first.writer, [hashKey('hostile')])).size).toBe(0);
});

test("the owner of a cell can't take an account that another cell will make, or that is on its way", async () => {
  const hostile = await second.superuser('store');
  const claim = (id: number) => hostile.query('insert into activity_head (account_id) values ($1)', [id]);
  const owner = await first.superuser('store');
  const correct = () =>
    correctDirectory(owner, [
      { id: 1, client: owner },
      { id: 2, client: hostile },
    ]);
  await hostile.query('set session_replication_role = replica'); // without the account's own row
  const next = (await first.account()) + 1;
  await claim(next);
  await correct();
  expect(await findAccountPlace(first.writer, next)).toBeNull();
  expect(await first.account()).toBe(next);

  const moving = await first.account();
  await addAccountPlace(first.writer, moving, 1);
  await owner.query(
    `insert into account_move (account_id, move_id, other_cell, state) values ($1, gen_random_uuid(), 3, 'moving')`,
    [moving],
  );
  await owner.query('delete from activity_head where account_id = $1', [moving]);
  await changeAccountPlace(
    first.writer,
    moving,
    { cellId: 1, state: 'here' },
    { cellId: 1, state: 'moving' },
  );
  await claim(moving);
  await correct();
  expect(await findAccountPlace(first.writer, moving)).toEqual({ cellId: 1, state: 'moving' });
});

test('of two processes that move an account, only the first changes its cell', async () => {
  const account = 77;
  await addAccountPlace(first.writer, account, 1);
  const here = { cellId: 1, state: 'here' } as const;
  const moving = { cellId: 1, state: 'moving' } as const;
  const tries = await Promise.allSettled(
    [1, 2].map(() => changeAccountPlace(first.writer, account, here, moving)),
  );
  expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await changeAccountPlace(first.writer, account, moving, { cellId: 2, state: 'here' });
  expect(await findAccountPlace(first.writer, account)).toEqual({ cellId: 2, state: 'here' });
  expect(await findAccountPlace(first.writer, 78)).toBeNull();
});

test('lookups of keys share a statement, and the last answer is known', async () => {
  const places = new KeyPlaces(first.writer, () => new Error('full'));
  await addKeyPlace(first.writer, hashKey('known key'), 77);
  const [found, absent] = await Promise.all([places.find('known key'), places.find('unknown key')]);
  expect(found).toEqual({ accountId: 77, cellId: 2, state: 'here' });
  expect(absent).toBeNull();
  const hint = hashKey('known key').toString('latin1');
  expect(places.known(hint)).toEqual(found);
  await changeAccountPlace(first.writer, 77, { cellId: 2, state: 'here' }, { cellId: 1, state: 'here' });
  expect(places.known(hint)).toEqual(found);
  await places.find('known key');
  expect(places.known(hint)).toEqual({ accountId: 77, cellId: 1, state: 'here' });
  const flood = await Promise.allSettled(Array.from({ length: 5_100 }, (_, n) => places.find(`guess ${n}`)));
  expect(flood.filter(({ status }) => status === 'rejected')).toHaveLength(100);
});

test('a process may read and add what it needs of the directory, and the reader nothing', async () => {
  const root = await first.superuser('store');
  const { rows } = await root.query(`
    select role, has_table_privilege(role, name, 'select') as reads, has_table_privilege(role, name, 'delete') as deletes
      from unnest(array['dbvitals_writer', 'dbvitals_reader', 'dbvitals_console']) as role,
           unnest(array['directory_account', 'directory_key', 'cell']) as name`);
  for (const { role, reads, deletes } of rows) {
    expect(reads).toBe(role === 'dbvitals_writer');
    expect(deletes).toBe(false);
  }
});
