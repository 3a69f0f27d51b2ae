import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { Gate } from './admit.ts';
import { addAccount, addKey, logOf, request } from './applicants-fixture.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

async function usedOf(keyId: number): Promise<number> {
  const { rows } = await store.writer.query('select used from key_window where api_key_id = $1', [keyId]);
  return rows[0].used;
}

test('what a frozen store was sent is neither counted nor recorded when it wakes up', async () => {
  const gate = new Gate(store.address);
  try {
    const accountId = await addAccount(store, 100);
    const keyId = await addKey(store, accountId);
    await gate.admit(request(accountId, keyId));
    const root = await store.superuser('store');
    const backends = `select pid from pg_stat_activity where query like '%key_batch%' and pid <> pg_backend_pid()`;
    const { rows } = await root.query<{ pid: number }>(backends);
    expect(rows).toHaveLength(1);
    const pid = rows[0]?.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      await expect(gate.admit(request(accountId, keyId))).rejects.toThrow('the batch failed');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    // The backend reads the statement and the end of its connection.
    await expect.poll(async () => (await root.query(backends)).rowCount).toBe(0);
    expect(await logOf(store, accountId)).toHaveLength(1);
    expect(await usedOf(keyId)).toBe(1);
    expect((await gate.admit(request(accountId, keyId))).remaining).toBe(98);
  } finally {
    await gate.close();
  }
});

test("a jump of the store's clock costs nobody an answer", async () => {
  const root = await store.superuser('store');
  await root.query(`
    create schema clock;
    grant usage on schema clock to public;
    create table clock.shift as select interval '0' as by;
    grant select on clock.shift to public;
    create function clock.clock_timestamp() returns timestamptz volatile language sql
      as 'select pg_catalog.clock_timestamp() + by from clock.shift';
    alter database store set search_path = clock, public, pg_catalog`);
  const gate = new Gate(store.address);
  try {
    const accountId = await addAccount(store, 100);
    const keyId = await addKey(store, accountId);
    const admit = async () => (await gate.admit(request(accountId, keyId))).remaining;
    expect(await admit()).toBe(99);
    await root.query(`update clock.shift set by = '50 s'`);
    expect(await Promise.all([admit(), admit()])).toEqual([98, 97]);
    await root.query(`update clock.shift set by = '-1 h'`);
    expect(await admit()).toBe(96);
    expect(await logOf(store, accountId)).toHaveLength(4);
  } finally {
    await gate.close();
    await root.query('alter database store reset search_path; drop schema clock cascade');
  }
});
