import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { within } from '../../store/read.ts';
import { removeConnection } from '../remove-connection.ts';
import { callHeartbeat, type HeartbeatCall, renewHeartbeat, revokeHeartbeat } from './backup-heartbeat.ts';
import { listReports, readHeartbeat } from './list-reports.ts';
import { storeReports } from './store-reports.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

/** A connection with a heartbeat. */
async function watched() {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  const change = <T>(work: Parameters<typeof changeAccount<T>>[2]) =>
    changeAccount(store.writer, accountId, work);
  return {
    accountId,
    connectionId,
    change,
    token: await renewHeartbeat(change, connectionId),
    call: (token: string, call: HeartbeatCall) => change((within) => callHeartbeat(within, token, call)),
    reports: () => listReports(within(store.writer), accountId, connectionId, 500),
    entries: async () =>
      (
        await store.writer.query(
          `select action_type, properties from activity where account_id = $1 and action_type like 'backup%' order by id`,
          [accountId],
        )
      ).rows,
    /** Lets so much time pass between what was reported and now. */
    age: (interval: string) =>
      store.writer.query(
        `update backup_report set at = at - $3::interval, started_at = started_at - $3::interval
          where account_id = $1 and connection_id = $2`,
        [accountId, connectionId, interval],
      ),
  };
}

const ok = (bytes: number | null = null): HeartbeatCall => ({ signal: 'succeeded', bytes });
const failed: HeartbeatCall = { signal: 'failed', bytes: null };

test('calls are reports, with the size and the start, and only what changes is an entry', async () => {
  const { token, call, reports, entries, age, connectionId } = await watched();
  expect(await call(token, { signal: 'started', bytes: null })).toBe(true);
  expect(await call(token, ok(1_000))).toBe(true);
  await age('1 day');
  expect(await call(token, ok(2_000))).toBe(true);
  await age('1 day');
  expect(await call(token, failed)).toBe(true);
  await age('1 hour');
  expect(await call(token, failed)).toBe(true);
  expect(await reports()).toMatchObject([
    { succeeded: false, bytes: null, started_at: null },
    { succeeded: false },
    { succeeded: true, bytes: 2_000, started_at: null },
    { succeeded: true, bytes: 1_000, started_at: expect.any(Date), source: 'heartbeat', label: '' },
  ]);
  expect(await entries()).toMatchObject([
    { action_type: 'backup_heartbeat_renewed', properties: { connection_id: connectionId, replaced: false } },
    { action_type: 'backup_succeeded', properties: { source: 'heartbeat', bytes: 1_000 } },
    { action_type: 'backup_failed', properties: { connection_id: connectionId, bytes: null } },
  ]);
});

test('a repetition within a minute is no second backup, also of several at once', async () => {
  const { token, call, reports, age } = await watched();
  await call(token, ok(4_000));
  await age('1 day');
  const answers = await Promise.all(Array.from({ length: 8 }, () => call(token, ok(1_000))));
  expect(answers).toEqual(Array(8).fill(true));
  expect((await reports()).map(({ bytes }) => bytes)).toEqual([1_000, 4_000]);
  await age('61 s');
  await call(token, ok(1_000));
  expect(await reports()).toHaveLength(3);
});

test('the store has no token, only its hash', async () => {
  const { token, accountId } = await watched();
  const { rows } = await store.writer.query<{ row: string }>(
    `select to_jsonb(h)::text as row from backup_heartbeat h where account_id = $1
     union all select to_jsonb(a)::text from activity a where account_id = $1`,
    [accountId],
  );
  expect(rows.length).toBeGreaterThan(1);
  for (const { row } of rows) expect(row).not.toContain(token);
});

test('a token ends when it is replaced, revoked, or its connection is removed', async () => {
  const { token, call, change, connectionId, accountId, entries, reports } = await watched();
  const next = await renewHeartbeat(change, connectionId);
  expect([await call(token, ok()), await call(next, ok())]).toEqual([false, true]);
  await revokeHeartbeat(change, connectionId);
  expect(await call(next, failed)).toBe(false);
  await expect(revokeHeartbeat(change, connectionId)).rejects.toThrow(/no heartbeat/);
  const last = await renewHeartbeat(change, connectionId);
  await removeConnection(change, connectionId);
  expect([await call(last, ok()), await reports()]).toEqual([false, []]);
  expect(await readHeartbeat(within(store.writer), accountId, connectionId)).toBe(null);
  await expect(renewHeartbeat(change, connectionId)).rejects.toThrow(/no connection/);
  expect((await entries()).map(({ action_type }) => action_type)).toEqual([
    'backup_heartbeat_renewed',
    'backup_heartbeat_renewed',
    'backup_succeeded',
    'backup_heartbeat_revoked',
    'backup_heartbeat_renewed',
  ]);
});

test('a token of one account is nothing in another', async () => {
  const [one, other] = [await watched(), await watched()];
  expect(await one.call(other.token, ok())).toBe(false);
  expect(await other.reports()).toEqual([]);
});

test('what is kept is bounded, and a flood of failures pushes out no success', async () => {
  const { change, connectionId, reports } = await watched();
  const at = (n: number) => new Date(Date.parse('2026-01-01') + n * 60_000);
  const report = (n: number, succeeded: boolean) => ({
    at: at(n),
    label: `b${n}`,
    succeeded,
    startedAt: null,
    bytes: 1,
  });
  const store = (list: ReturnType<typeof report>[]) =>
    change((within) => storeReports(within, connectionId, 'barman', list));
  const many = Array.from({ length: 600 }, (_, n) => report(n + 10, false));
  expect(await store([report(1, true), report(2, true)])).toBe(2);
  expect(await store(many)).toBe(600);
  expect(await store(many.slice(400))).toBe(0);
  const kept = await reports();
  expect([kept.length, kept[0]?.label, kept.filter(({ succeeded }) => succeeded).length]).toEqual([
    252,
    'b609',
    2,
  ]);
});
