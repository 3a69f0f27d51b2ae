import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/store.ts';
import { Gate } from './admit.ts';
import { addAccount, addKey, logOf, request } from './applicants-fixture.ts';
import { AccountAway } from './gate-errors.ts';

let store: TestStore;
let gate: Gate;
beforeAll(async () => {
  store = await startTestStore();
  gate = new Gate(store.address);
});
afterAll(async () => {
  await gate.close();
  await store.stop();
});

test('a batch that waits while an account leaves admits the others, and records and counts nothing of it', async () => {
  const [leaving, staying] = [await addAccount(store, 100), await addAccount(store, 100)];
  const [key, other] = [await addKey(store, leaving), await addKey(store, staying)];
  await gate.admit(request(leaving, key));
  const owner = await store.superuser('store');
  // As `account move` does: a statement that waits for the head finds none.
  await owner.query('begin');
  await owner.query('select from activity_head where account_id = $1 for update', [leaving]);
  const asked = Promise.allSettled([
    gate.admit(request(leaving, key)),
    gate.admit(request(staying, other)),
    gate.admit(request(leaving, key)),
  ]);
  await wait(200);
  const { rows: windows } = await owner.query('delete from key_window where account_id = $1 returning used', [
    leaving,
  ]);
  await owner.query('delete from activity_head where account_id = $1', [leaving]);
  await owner.query('commit');

  const [first, between, second] = await asked;
  expect(between).toMatchObject({ status: 'fulfilled', value: { verdict: 'admitted' } });
  for (const refused of [first, second])
    expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(AccountAway) });
  expect(windows).toEqual([{ used: 1 }]);
  expect(await logOf(store, leaving)).toHaveLength(1);
  expect(await logOf(store, staying)).toHaveLength(1);
  expect(gate.verdicts).toMatchObject({ admitted: 2, failed: 2, dead: 0 });
  // Later requests fail at once.
  await expect(gate.admit(request(leaving, key))).rejects.toThrow(AccountAway);
  expect(gate.waiting).toBe(0);
});
