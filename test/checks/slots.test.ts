import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Thresholds } from '../../src/checks/check.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { measure } from './measure.ts';
import { follow } from './paste.ts';
import { PASSWORD, PostgresServer, testedPrograms } from './postgres-server.ts';
import { Standby } from './standby.ts';

// What PostgreSQL 17 and 18 do to slots: a standby copies them, and a time without a consumer ends them.

let primary: PostgresServer;
let standby: Standby;
let version = 0;

beforeAll(async () => {
  primary = await PostgresServer.start(testedPrograms());
  const [row] = await primary.run('show server_version_num');
  version = Number(row?.['server_version_num']);
  await primary.pause();
  standby = new Standby(primary, 'copy', testedPrograms(), {
    primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres password='${PASSWORD}' application_name=copy dbname=postgres`,
    primary_slot_name: 'copy',
    hot_standby_feedback: 'on',
    max_slot_wal_keep_size: '64MB',
    wal_level: 'logical',
    ...(version >= 170_000 && { sync_replication_slots: 'on' }),
  });
  await primary.resume({ listen_addresses: '127.0.0.1', max_wal_senders: '5', wal_level: 'logical' });
  await primary.run(`select pg_create_physical_replication_slot('copy', true)`);
  await standby.start();
}, 60_000);
afterAll(async () => {
  await standby.stop();
  await primary.stop();
});

async function judged(
  id: string,
  thresholds: Thresholds,
  on: Pick<Standby, 'open'> = primary,
): Promise<SeenJudgement> {
  const check = postgresChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  const client = await on.open('watcher');
  try {
    return await measure(client, check, { thresholds });
  } finally {
    await client.end();
  }
}

const objects = async (...of: Parameters<typeof judged>) =>
  (await judged(...of)).faults.map(({ object }) => object);

const ANY_AGE = { warning_seconds: 0.001, warning_transactions: 1 };

test('slots that a standby copies are judged at their primary, and after its promotion as its own', async () => {
  if (version < 170_000) return;
  await primary.run(`select pg_create_logical_replication_slot('feed', 'pgoutput', false, false, true)`);
  const isCopied = async () => {
    await primary.run('select pg_log_standby_snapshot()');
    const [row] = await standby.run(
      'select count(*)::int as slots from pg_replication_slots where synced and not temporary',
    );
    return row?.['slots'];
  };
  await expect.poll(isCopied, { interval: 500 }).toBe(1);
  expect(await objects('PG_XMIN_HELD', ANY_AGE)).toContain('slot feed');
  expect(await objects('PG_XMIN_HELD', ANY_AGE, standby)).not.toContain('slot feed');
  expect(await objects('PG_SLOT_WAL_LEFT', { warning: 1.1 }, standby)).toEqual([]);
  // The advice would not help.
  await expect(standby.run(`select pg_drop_replication_slot('feed')`)).rejects.toThrow('cannot drop');
  await standby.run('select pg_promote()');
  expect(await objects('PG_XMIN_HELD', ANY_AGE, standby)).toContain('slot feed');
  expect(await objects('PG_SLOT_WAL_LEFT', { warning: 1.1 }, standby)).toEqual(['feed']);
}, 60_000);

test('a slot that ended because it was idle for too long keeps nothing, and is said to be invalid', async () => {
  if (version < 180_000) return;
  await primary.run(`select pg_create_physical_replication_slot('spare', true)`);
  await primary.run(`select pg_logical_emit_message(true, 'test', repeat('x', 20000000))`);
  expect((await judged('PG_WAL_KEPT', { warning: 0 })).faults[0]?.metricLine).toContain('slot ');
  await primary.run(
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name <> 'spare' and not active`,
  );
  await primary.configure(
    `ALTER SYSTEM SET idle_replication_slot_timeout = '1s'; SELECT pg_reload_conf()`,
    'idle_replication_slot_timeout',
    '1s',
  );
  const ended = async () => {
    await primary.run('checkpoint');
    return primary.run(
      `select restart_lsn is not null as placed, wal_status, invalidation_reason from pg_replication_slots where slot_name = 'spare'`,
    );
  };
  await expect
    .poll(ended, { interval: 300 })
    .toEqual([{ placed: true, wal_status: 'lost', invalidation_reason: 'idle_timeout' }]);
  const { faults, measures } = await judged('PG_SLOT_INACTIVE', { warning_seconds: 0.001 });
  expect(faults).toMatchObject([
    {
      severity: 'critical',
      object: 'spare',
      metricLine: expect.stringContaining('longer than idle_replication_slot_timeout'),
    },
  ]);
  expect(measures?.filter(({ object }) => object === 'spare')).toEqual([]);
  expect((await judged('PG_WAL_KEPT', { warning: 0 })).faults[0]?.metricLine).not.toContain('spare');
  await follow(primary, faults[0]?.remediation ?? '');
  expect(await objects('PG_SLOT_INACTIVE', { warning_seconds: 0.001 })).toEqual([]);
}, 60_000);
