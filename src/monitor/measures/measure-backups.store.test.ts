import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import { runHealthCheck } from '../run.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

async function run(key: ConnectionKey) {
  const stored = await runHealthCheck(store.deps, key);
  if (!stored) throw new Error('nothing was stored');
  const ofBackups = stored.checks.filter(({ check_id }) => check_id.startsWith('BACKUP_'));
  return { stored, backups: Object.fromEntries(ofBackups.map((one) => [one.check_id, one.status])) };
}

const expectWithin = (key: ConnectionKey, seconds: number, since: string) =>
  store.writer.query(
    `update connection set backup_expected_seconds = $3, backup_expected_since = now() - $4::interval
      where account_id = $1 and connection_id = $2`,
    [key.accountId, key.connectionId, seconds, since],
  );

const report = (key: ConnectionKey, age: string, bytes: number | null, succeeded = true) =>
  store.writer.query(
    `insert into backup_report (account_id, connection_id, source, at, label, succeeded, bytes)
     values ($1, $2, 'heartbeat', now() - $3::interval, '', $4, $5)`,
    [key.accountId, key.connectionId, age, succeeded, bytes],
  );

const ticketsOf = async ({ accountId }: ConnectionKey) =>
  (
    await store.writer.query(
      `select check_id, status, severity from ticket where account_id = $1 and check_id like 'BACKUP%' order by ticket_id`,
      [accountId],
    )
  ).rows;

test('backups stop while the server is fine: critical, a ticket, a measure; the next success resolves it', async () => {
  const key = await store.watched();
  expect((await run(key)).backups).toEqual({});
  await expectWithin(key, 93_600, '10 days');
  await report(key, '25 hours', 4_000);
  expect((await run(key)).backups).toEqual({ BACKUP_STALE: 'ok', BACKUP_SHRANK: 'ok' });
  await store.writer.query(`update backup_report set at = at - interval '90 min' where account_id = $1`, [
    key.accountId,
  ]);
  const late = await run(key);
  expect(late.backups).toMatchObject({ BACKUP_STALE: 'critical' });
  expect(late.stored.checks.find(({ check_id }) => check_id === 'CONN_UNREACHABLE')?.status).toBe('ok');
  expect(await ticketsOf(key)).toEqual([{ check_id: 'BACKUP_STALE', status: 'open', severity: 'critical' }]);
  const { rows } = await store.writer.query(
    `select check_id, metric from measure_series where account_id = $1 and check_id like 'BACKUP%' order by 1, 2`,
    [key.accountId],
  );
  expect(rows).toEqual([
    { check_id: 'BACKUP_SHRANK', metric: 'backup_size_bytes' },
    { check_id: 'BACKUP_STALE', metric: 'backup_age_seconds' },
  ]);
  await report(key, '1 min', 4_100);
  expect((await run(key)).backups).toEqual({ BACKUP_STALE: 'ok', BACKUP_SHRANK: 'ok' });
  expect(await ticketsOf(key)).toMatchObject([{ status: 'resolved' }]);
});

test('a server that can not be reached is no excuse', async () => {
  const key = await store.watched({ port: 1 });
  await expectWithin(key, 3_600, '2 hours');
  const { backups, stored } = await run(key);
  expect(backups).toMatchObject({ BACKUP_STALE: 'critical', BACKUP_SHRANK: 'skipped' });
  expect(stored.checks.map(({ check_id }) => check_id)).toContain('CONN_UNREACHABLE');
});

test('a backup of half the size is a warning, unless the threshold of the connection says otherwise', async () => {
  const key = await store.watched();
  await report(key, '2 days', 10_000);
  await report(key, '1 day', null);
  await report(key, '1 hour', 4_000);
  await report(key, '1 min', 1, false);
  expect((await run(key)).backups).toEqual({ BACKUP_STALE: 'ok', BACKUP_SHRANK: 'warning' });
  await store.set(key, { thresholds: { BACKUP_SHRANK: { warning: 0.3 } } });
  expect((await run(key)).backups).toMatchObject({ BACKUP_SHRANK: 'ok' });
});

test('when no backup is expected any more, its ticket is resolved', async () => {
  const key = await store.watched();
  await expectWithin(key, 3_600, '2 hours');
  expect((await run(key)).backups).toMatchObject({ BACKUP_STALE: 'critical' });
  await store.set(key, { backup_expected_seconds: 0 });
  expect((await run(key)).backups).toMatchObject({ BACKUP_STALE: 'ok' });
  expect(await ticketsOf(key)).toMatchObject([{ status: 'resolved' }]);
});
