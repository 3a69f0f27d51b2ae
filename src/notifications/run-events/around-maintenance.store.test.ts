import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { runOnce } from '../../monitor/run-fixture.ts';
import { insertDestination } from '../destination-fixture.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

test('a window holds back what begins in it; what still stands is sent after it, and what ended before it opened, at once', async () => {
  const key = await store.watched();
  const { accountId, connectionId } = key;
  await insertDestination(store.writer, accountId, {
    kinds: ['health_check.completed', 'ops.ticket_created', 'ops.ticket_resolved'],
  });
  const root = await store.superuser('store');
  const table = (name: string) => root.query(`create table ${name} (n int)`);
  const drop = (name: string) => root.query(`drop table ${name}`);
  const since = async (last: number) => {
    const { rows } = await store.writer.query<{ kind: string; object: string | null; sequence: number }>(
      `select e.kind, e.details ->> 'object' as object, d.sequence
         from delivery d join event e using (account_id, event_id)
        where d.account_id = $1 and d.sequence > $2 order by d.sequence`,
      [accountId, last],
    );
    return {
      last: rows.at(-1)?.sequence ?? last,
      events: rows
        .filter(({ kind, object }) => kind === 'health_check.completed' || object?.startsWith('public.w_'))
        .map(({ kind, object }) => (kind === 'health_check.completed' ? 'run' : `${kind} ${object}`)),
    };
  };

  await table('w_before');
  await runOnce(store, key);
  const before = await since(0);
  expect(before.events.sort()).toEqual(['ops.ticket_created public.w_before', 'run']);

  await store.writer.query(
    `insert into maintenance (account_id, name, connection_ids, starts_at, ends_at, created_by, created_at)
     values ($1, 'Move', $2, now() - interval '1 min', now() + interval '1 h', 'Ada', now())`,
    [accountId, [connectionId]],
  );
  await table('w_short');
  await table('w_long');
  await drop('w_before');
  await runOnce(store, key);
  const inside = await since(before.last);
  expect(inside.events).toEqual(['ops.ticket_resolved public.w_before']);
  await drop('w_short');
  await runOnce(store, key);
  expect((await since(inside.last)).events).toEqual([]);

  await store.writer.query('update maintenance set ends_at = now() where account_id = $1', [accountId]);
  await runOnce(store, key);
  const after = await since(inside.last);
  expect(after.events.sort()).toEqual(['ops.ticket_created public.w_long', 'run']);
  await runOnce(store, key);
  expect((await since(after.last)).events).toEqual(['run']);
  const { rows } = await store.writer.query<{ in_maintenance: boolean }>(
    'select in_maintenance from health_check where account_id = $1 order by health_check_id',
    [accountId],
  );
  expect(rows.map(({ in_maintenance }) => in_maintenance)).toEqual([false, true, true, false, false]);
});
