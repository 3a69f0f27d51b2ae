import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../connect.ts';
import type { Read } from '../read.ts';
import { readOnce } from './read-once.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

// Without the account in the statement: only row-level security selects.
const heads = (read: Read) => read<{ account_id: number }>('select account_id from activity_head', []);

test('accounts that take turns on one connection see only their own rows', async () => {
  const accounts = [await store.account(), await store.account(), await store.account()];
  for (let turn = 0; turn < 60; turn += 1) {
    const own = accounts[turn % 3] ?? 0;
    const { result } = await readOnce(reader, own, heads);
    expect(result).toEqual([{ account_id: own }]);
  }
  const all = await Promise.all(accounts.map((own) => readOnce(reader, own, heads)));
  expect(all.map(({ result }) => result)).toEqual(accounts.map((own) => [{ account_id: own }]));
});

test('after an exchange, and after one that failed, no account is set and no transaction is open', async () => {
  const own = await store.account();
  const failing = (read: Read) => read('select 1 / (account_id - account_id) from account', []);
  for (let turn = 0; turn < 3; turn += 1) {
    await expect(readOnce(reader, own, failing)).rejects.toThrow('division by zero');
    const { rows } = await reader.query('select account_id from activity_head');
    expect(rows).toEqual([]);
    const { result, generation } = await readOnce(reader, own, heads);
    expect(result).toEqual([{ account_id: own }]);
    expect(generation).toBeGreaterThanOrEqual(0);
    expect((await reader.query('select 1 from account')).rows).toEqual([]);
    const state = await reader.query(`select current_setting('transaction_read_only') as read_only`);
    expect(state.rows).toEqual([{ read_only: 'off' }]);
  }
});

test('statements that are asked for together are one exchange, each with its own rows', async () => {
  const own = await store.account();
  const numbers = (read: Read, most: number) =>
    read<{ n: number; began: Date }>(
      'select n, transaction_timestamp() as began from generate_series(1, $1) n',
      [most],
    );
  const together = (read: Read) =>
    Promise.all([numbers(read, 1), heads(read), numbers(read, 2), numbers(read, 0)]);
  for (const isKept of [true, false]) {
    const { result } = await readOnce(reader, own, together, isKept);
    const [one, account, two, none] = result;
    expect([one.length, account, two.map(({ n }) => n), none]).toEqual([
      1,
      [{ account_id: own }],
      [1, 2],
      [],
    ]);
    expect(two[1]?.began).toEqual(one[0]?.began);
  }
  const failing = (read: Read) => Promise.all([heads(read), read('select 1 / (1 - 1)', [])]);
  await expect(readOnce(reader, own, failing)).rejects.toThrow('division by zero');
  expect((await readOnce(reader, own, together)).result[1]).toEqual([{ account_id: own }]);
});

test('reads that share a connection are answered in order, and one that fails spoils no other', async () => {
  const accounts = await Promise.all(Array.from({ length: 20 }, () => store.account()));
  const work = (n: number) => (n % 3 === 1 ? (read: Read) => read('select 1 / (1 - 1)', []) : heads);
  const reads = accounts.map((own, n) => readOnce(reader, own, work(n), n % 2 === 0));
  for (const [n, read] of (await Promise.allSettled(reads)).entries()) {
    if (n % 3 === 1) expect(read).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    else expect(read).toMatchObject({ value: { result: [{ account_id: accounts[n] }] } });
  }
});

test('what the connection of a read that ended takes with it is read again', async () => {
  const accounts = await Promise.all(Array.from({ length: 6 }, () => store.account()));
  const ending = (read: Read) => read('select pg_terminate_backend(pg_backend_pid())', []);
  const reads = accounts.map((own, n) => readOnce(reader, own, n === 2 ? ending : heads, false));
  for (const [n, read] of (await Promise.allSettled(reads)).entries()) {
    if (n === 2) expect(read.status).toBe('rejected');
    else expect(read).toMatchObject({ value: { result: [{ account_id: accounts[n] }] } });
  }
});

test('an answer that is not kept is read without a generation, and for its account alone', async () => {
  const [own, other] = [await store.account(), await store.account()];
  for (const account of [own, other, own]) {
    const read = await readOnce(reader, account, heads, false);
    expect(read).toEqual({ result: [{ account_id: account }], generation: 0 });
  }
});

test('a statement that does not parse leaves the connection usable, and its name free', async () => {
  const own = await store.account();
  await expect(readOnce(reader, own, (read) => read('select nonsense', []))).rejects.toThrow('nonsense');
  await expect(readOnce(reader, own, (read) => read('select nonsense', []))).rejects.toThrow('nonsense');
  expect((await readOnce(reader, own, heads)).result).toEqual([{ account_id: own }]);
});

test('it reads only, reads once, and not for an account that does not exist', async () => {
  const own = await store.account();
  const lasting = (read: Read) => read(`select set_config('transaction_read_only', 'off', true)`, []);
  await expect(readOnce(reader, own, lasting)).rejects.toThrow(/read-write mode/);
  const twice = async (read: Read) => [await heads(read), await heads(read)];
  await expect(readOnce(reader, own, twice)).rejects.toThrow('use readAs');
  await expect(readOnce(reader, 987_654, heads)).rejects.toThrow("can't be read");
});

test('statements are prepared once per connection', async () => {
  const own = await store.account();
  for (let turn = 0; turn < 4; turn += 1) await readOnce(reader, own, heads);
  const { rows } = await reader.query(
    `select count(*) as n from pg_prepared_statements where statement = 'select account_id from activity_head'`,
  );
  expect(rows).toEqual([{ n: 1 }]);
});

test('a migration, and a statement that was dropped, cost no read', async () => {
  const own = await store.account();
  const root = await store.superuser('store');
  await root.query('create table widened (one integer); grant select on widened to dbvitals_reader');
  const widened = (read: Read) => read('select count(*) as n, w.* from widened w group by w.one', []);
  for (let turn = 0; turn < 7; turn += 1) expect((await readOnce(reader, own, widened)).result).toEqual([]);
  await root.query('alter table widened alter one type text');
  expect((await readOnce(reader, own, widened)).result).toEqual([]);
  await reader.query('deallocate all');
  expect((await readOnce(reader, own, heads)).result).toEqual([{ account_id: own }]);
  await root.query('drop table widened');
});

test('a connection that no longer answers is replaced by the next read', async () => {
  const own = await store.account();
  const hasty = openPool(store.address, 'reader', { max: 1, pipeline: true, statementTimeout: 500 });
  const { rows } = await hasty.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  try {
    await expect(readOnce(hasty, own, heads)).rejects.toThrow(/timeout/i);
    expect((await readOnce(hasty, own, heads)).result).toEqual([{ account_id: own }]);
  } finally {
    process.kill(pid, 'SIGCONT');
    await hasty.end();
  }
});
