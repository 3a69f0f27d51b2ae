import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { waitForLock } from '../../../test/support/wait-for-lock.ts';
import type { StoreAddress } from '../../config/store-url.ts';
import { createMetrics } from '../../platform/telemetry/metrics.ts';
import { openApiCell } from '../cells/api-cell.ts';
import { Gate } from './admit.ts';
import { addAccount, addKey, logOf, request } from './applicants-fixture.ts';
import { AccountAway } from './gate-errors.ts';
import { keyHints } from './identify.ts';

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
  await waitForLock(owner);
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

test('a cell connects to its store before the first request, and waits for none that is away', async () => {
  const root = await store.superuser('store');
  const sessions = async () => {
    const { rows } = await root.query<{ name: string }>(
      `select application_name as name from pg_stat_activity where application_name like 'dbvitals%' order by 1`,
    );
    return rows.map(({ name }) => name);
  };
  const open = (address: StoreAddress, isOpen: boolean) =>
    openApiCell(
      { id: 1, number: null, address, isOpen: () => isOpen, hasSecret: () => true },
      {
        log: pino({ level: 'silent' }),
        metrics: createMetrics('0'),
        hints: keyHints(),
        gates: () => 1,
      },
    );
  const before = await sessions();
  const closed = open(store.address, false);
  const opened = open(store.address, true);
  const names = ['dbvitals reader', 'dbvitals writer', 'dbvitals writer']; // answers, keys, gate
  await waitFor(async () => expect(await sessions()).toEqual([...before, ...names].sort()));
  await Promise.all([closed.close(), opened.close()]);
  const away = open([{ host: '/nowhere', port: 5432, user: 'postgres', database: 'store' }], true);
  expect(await away.notReady()).toEqual(expect.any(String));
  await away.close();
});
