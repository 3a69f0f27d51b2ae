import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Check, Finding } from '../../src/checks/check.ts';
import type { Row } from '../../src/checks/fault.ts';
import type { JudgementInput } from '../../src/checks/judgement-of.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import { measure as measureTarget } from '../../src/monitor/measure.ts';
import { requireReading } from '../../src/monitor/pulse/blocking-fixture.ts';
import { blockingRoots } from '../../src/monitor/pulse/blocking-roots.ts';
import { HeldSession } from '../../src/monitor/pulse/held-session.ts';
import { documentedMetrics, reportedMetrics } from '../support/expect-measures.ts';
import { expectOnPages } from '../support/expect-on-pages.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { waitFor } from '../support/wait-for.ts';
import { measure, sample } from './measure.ts';
import { follow, stepsOf } from './paste.ts';
import { expectPlain } from './pasted/plain-remediations.ts';
import { type Login, PASSWORD, PostgresServer, testedPrograms, toTarget } from './postgres-server.ts';
import { Standby } from './standby.ts';

const MEGABYTE = 1024 ** 2;

function check(id: string): Check {
  const found = postgresChecks.find((each) => each.id === id);
  if (!found) throw new Error(`There is no check ${id}.`);
  return found;
}

describe('PostgreSQL with two standbys', () => {
  let primary: PostgresServer;
  let north: Standby;
  let south: Standby;

  beforeAll(async () => {
    primary = await PostgresServer.start(testedPrograms());
    await primary.pause();
    [north, south] = [
      new Standby(primary, 'north', testedPrograms()),
      new Standby(primary, 'south', testedPrograms()),
    ];
    await primary.resume({ listen_addresses: '127.0.0.1', max_wal_senders: '5' });
    await Promise.all([north.start(), south.start()]);
    await streaming(2);
  });
  afterAll(async () => {
    await Promise.all([north.stop(), south.stop()]);
    await primary.stop();
  });

  const streaming = (count: number) =>
    primary.until(
      `select count(*) filter (where replay_lsn = pg_current_wal_lsn()) = ${count} and count(*) = ${count}
         from pg_stat_replication`,
    );

  async function judged(
    id: string,
    facts: Pick<JudgementInput, 'thresholds' | 'before' | 'expectedStandbys'> = {},
    { on = primary, login = 'watcher' }: { on?: Pick<Standby, 'open'>; login?: Login } = {},
  ): Promise<SeenJudgement> {
    const client = await on.open(login);
    try {
      const judgement = await measure(client, check(id), facts);
      for (const { remediation } of judgement.faults) {
        expectPlain(id, remediation);
        expectOnPages([[id, remediation]]);
      }
      return judgement;
    } finally {
      await client.end();
    }
  }

  async function rowsOf(id: string): Promise<Row[]> {
    const client = await primary.open('watcher');
    try {
      return await sample(client, check(id));
    } finally {
      await client.end();
    }
  }

  const emit = (bytes: number) =>
    primary.run(`select pg_logical_emit_message(true, 'test', repeat('x', ${bytes}))`);

  /** Writes WAL until at most `bytes` of the slot's limit are left. */
  const emitUntilLeft = async (bytes: number) => {
    for (;;) {
      const [row] = await primary.run(
        `select safe_wal_size <= ${bytes} as reached from pg_replication_slots where slot_name = 'full'`,
      );
      if (row?.['reached'] === true) return;
      await emit(MEGABYTE);
    }
  };

  test.each(['pg_basebackup', 'nightly'])(
    'a base backup as %s, and the WAL that it takes, is no standby',
    async (name) => {
      const { host, port } = primary;
      const taking = { host, port, user: 'postgres', password: PASSWORD, replication: 'true' };
      const backup = new pg.Client({ ...taking, application_name: name });
      backup.on('error', () => {});
      await backup.connect();
      const [row] = await primary.run('select pg_current_wal_flush_lsn()::text as place');
      // So does pg_basebackup, whatever PGAPPNAME is.
      await backup.query('CREATE_REPLICATION_SLOT pg_basebackup_7 TEMPORARY PHYSICAL');
      const ended = backup.query(`START_REPLICATION SLOT pg_basebackup_7 ${row?.['place']}`).catch(String);
      const taken = (count: number) =>
        primary.until(
          `select count(*) filter (where state in ('streaming', 'catchup')) = ${count}
           from pg_stat_replication where application_name = '${name}'`,
        );
      await taken(1);
      const { measures } = await judged('PG_REPLICATION_LAG');
      expect(measures?.map(({ object }) => object).sort()).toEqual(['north/127.0.0.1', 'south/127.0.0.1']);
      await primary.run(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`,
      );
      await taken(0);
      await ended;
    },
  );

  test('standbys that keep up are no fault', async () => {
    expect(await judged('PG_REPLICATION_LAG')).toEqual({
      faults: [],
      passMessage: expect.stringMatching(/^2 standbys, at most \d+ kB behind\.$/),
      measures: ['north', 'south'].map((name) =>
        expect.objectContaining({ metric: 'replication_lag_bytes', object: `${name}/127.0.0.1` }),
      ),
      near: [],
      truncated: false,
    });
    expect(await judged('PG_REPLICA_MISSING', { expectedStandbys: 2 })).toEqual({
      faults: [],
      measures: [
        {
          metric: 'connected_standbys_count',
          object: null,
          value: 2,
          operator: '<=',
          warning: null,
          critical: 1,
        },
      ],
      passMessage: '2 standbys of 2 expected are connected.',
    });
    for (const id of ['PG_SLOT_INACTIVE', 'PG_SLOT_WAL_LEFT', 'PG_REPLAY_PAUSED'])
      expect(await judged(id), id).toMatchObject({ faults: [] });
    expect((await judged('PG_REPLAY_PAUSED', {}, { on: north })).passMessage).toBe('Replay is not paused.');
  });

  test('a standby runs every check without an error', async () => {
    for (const { id } of postgresChecks) await judged(id, {}, { on: north });
  });

  test('a run of a standby says that statements which write are for the primary; a run of the primary does not', async () => {
    const client = await primary.open(); // `run` splits its text, and the name has what it splits at
    await client.query('create table "unkeyed; -- x" (a int)');
    await client.query('create publication sent for table "unkeyed; -- x"');
    await streaming(2);
    const remediations = async (host: string, login: Login) => {
      const target = toTarget({ host, port: primary.port }, login);
      const { outcomes } = await measureTarget(target, {
        allowPrivateTargets: true,
        thresholds: {},
        signal: new AbortController().signal,
      });
      return outcomes.flatMap(({ findings }) => findings);
    };
    const keyless = (found: Finding[]) => found.find(({ check_id }) => check_id === 'PG_NO_PRIMARY_KEY');
    const there = await remediations(north.host, 'watcher');
    expect(keyless(there)?.remediation).toMatch(
      /^ALTER TABLE public\."unkeyed; -- x" ADD .*; -- on the primary$/,
    );
    expect(keyless(await remediations(primary.host, 'watcher'))?.remediation).toMatch(
      /bigserial.*PRIMARY KEY \(id\);$/,
    );
    const denied = await remediations(north.host, 'stranger');
    const missing = denied.find(({ check_id }) => check_id === 'PG_PRIVILEGE_MISSING');
    expect(missing?.remediation).toMatch(/^GRANT pg_monitor TO stranger;.* -- on the primary$/);
    expect(denied.find(({ missing_grant }) => missing_grant !== undefined)).toMatchObject({
      metric_line: expect.stringMatching(/ On the primary, run GRANT pg_monitor TO stranger;/),
      missing_grant: expect.stringMatching(/ -- on the primary$/),
    });
    await client.query('drop publication sent');
    await client.query('drop table "unkeyed; -- x"');
    await client.end();
  });

  test('a pulse and a check of a standby name the session for which recovery waits, and the sessions that wait for it', async () => {
    const [host = '', port] = north.place.split(':');
    const held = new HeldSession(toTarget({ host: decodeURIComponent(host), port: Number(port) }), true);
    onTestFinished(() => held.end());
    await primary.run('create table read_there (id int)');
    await streaming(2);
    const [reader, behind] = [await north.open('watcher'), await north.open('watcher')];
    await reader.query('begin; select from read_there');
    await primary.run('alter table read_there add column paid boolean');
    const seen = async (waits: object[]) => {
      const reading = requireReading(await held.pulse());
      expect(blockingRoots(reading)).toMatchObject([
        { session: { role: 'watcher', state: 'idle in transaction' }, waits },
      ]);
      expect(reading.sessions.map(({ application }) => application)).toContain('startup');
    };
    await waitFor(() => seen([{}])); // before recovery waits, nobody would wait behind it
    const waits = behind.query('select from read_there').catch(() => {});
    await waitFor(() => seen([{}, {}]));
    const { faults, measures } = await judged(
      'PG_BLOCKED_SESSIONS',
      { thresholds: { warning_seconds: 0 } },
      { on: north },
    );
    expect(faults).toMatchObject([
      {
        object: 'shop/watcher/""',
        metricLine: expect.stringMatching(
          /^Sessions of shop\/watcher\/"" .* have blocked recovery, which replays the WAL, and 1 session for \d+ s; end/,
        ),
      },
    ]);
    expect(measures?.find(({ object }) => object === null)?.value).toBeGreaterThan(0);
    // It ends the one that blocks, and not the one that waits.
    expect(await north.run(faults[0]?.remediation ?? '')).toEqual([{ pg_terminate_backend: true }]);
    await waits;
    await behind.query('select from read_there');
    await Promise.all([reader.end(), behind.end()]);
  });

  test('hidden WAL senders are never "ok": the exact GRANT is named, and it helps', async () => {
    for (const id of ['PG_REPLICATION_LAG', 'PG_REPLICA_MISSING']) {
      const blind = await judged(id, { expectedStandbys: 2 }, { login: 'stranger' });
      expect(blind).toMatchObject({ faults: [], grant: 'GRANT pg_monitor TO stranger;' });
      expect(blind.skipped, id).toContain(blind.grant);
    }
    await primary.run('grant pg_monitor to stranger');
    for (const id of ['PG_REPLICATION_LAG', 'PG_REPLICA_MISSING']) {
      expect(await judged(id, { expectedStandbys: 2 }, { login: 'stranger' })).toMatchObject({ faults: [] });
      expect((await judged(id, { expectedStandbys: 2 }, { login: 'stranger' })).skipped).toBeUndefined();
    }
    await primary.run('revoke pg_monitor from stranger');
  });

  test('a paused replay is a fault of the standby, its lag one of the primary; resuming fixes both', async () => {
    await north.run('select pg_wal_replay_pause()');
    await emit(2 * MEGABYTE);
    await primary.until(
      `select replay_lsn = pg_current_wal_lsn() from pg_stat_replication where application_name = 'south'`,
    );
    const limits = (warning: number, critical: number) => ({
      thresholds: { warning_bytes: warning * MEGABYTE, critical_bytes: critical * MEGABYTE },
    });
    const behind = await judged('PG_REPLICATION_LAG', limits(1, 100));
    expect(behind.faults).toMatchObject([{ severity: 'warning', object: 'north/127.0.0.1' }]);
    expect((await judged('PG_REPLICATION_LAG', limits(1, 2))).faults).toMatchObject([
      { severity: 'critical', object: 'north/127.0.0.1' },
    ]);
    expect(await judged('PG_REPLICATION_LAG', limits(2.2, 100))).toMatchObject({
      faults: [],
      near: ['north/127.0.0.1'],
    });
    expect((await judged('PG_REPLAY_PAUSED')).faults).toEqual([]);

    const { faults } = await judged('PG_REPLAY_PAUSED', {}, { on: north });
    expect(faults).toMatchObject([{ severity: 'warning', object: null }]);
    const [paused] = faults;
    await north.run(paused?.remediation ?? '');
    for (const statement of stepsOf(paused?.remediation ?? '')) await north.run(statement);
    await streaming(2);
    expect((await judged('PG_REPLAY_PAUSED', {}, { on: north })).faults).toEqual([]);
    expect(await judged('PG_REPLICATION_LAG', limits(1, 2))).toMatchObject({ faults: [], near: [] });
  });

  test('a missing standby is a fault only if it is expected', async () => {
    await south.pause();
    await streaming(1);
    expect((await judged('PG_REPLICA_MISSING', { expectedStandbys: 2 })).faults).toMatchObject([
      {
        severity: 'critical',
        object: null,
        metricLine: '1 of 2 expected standbys is connected; start the missing one again.',
      },
    ]);
    for (const expectedStandbys of [0, 1])
      expect((await judged('PG_REPLICA_MISSING', { expectedStandbys })).faults).toEqual([]);
    await south.start();
    await streaming(2);
    expect((await judged('PG_REPLICA_MISSING', { expectedStandbys: 2 })).faults).toEqual([]);
  });

  test('a slot without a consumer is found at once if the server shows since when, else after two runs', async () => {
    await primary.run(`select pg_create_physical_replication_slot('spare', true)`);
    // It keeps nothing yet.
    expect((await judged('PG_SLOT_INACTIVE', { thresholds: { warning_seconds: 0 } })).faults).toEqual([]);
    await emit(20 * MEGABYTE);
    const rows = await rowsOf('PG_SLOT_INACTIVE');
    const thresholds = { warning_seconds: 0 };
    const tells =
      Number((await primary.run('show server_version_num'))[0]?.['server_version_num']) >= 170_000;

    const first = await judged('PG_SLOT_INACTIVE', { thresholds });
    if (tells) expect(await judged('PG_SLOT_INACTIVE')).toMatchObject({ faults: [], truncated: false });
    else expect(first.skipped).toContain('it needs two runs');
    const { faults } = await judged('PG_SLOT_INACTIVE', { thresholds, before: { rows, seconds: 300 } });
    expect(faults).toMatchObject([{ severity: 'warning', object: 'spare' }]);
    expect(first.faults).toHaveLength(tells ? 1 : 0);
    // A restart of a standby, or a slot that moved since, is no fault; the times of runs add up.
    const thirty = { warning_seconds: 1800 };
    const idle = (more: Row) => ({ rows: rows.map((row) => ({ ...row, ...more })), seconds: 300 });
    const ofLast = async (more: Row) =>
      (await judged('PG_SLOT_INACTIVE', { thresholds: thirty, before: idle(more) })).faults;
    expect(await ofLast({})).toEqual([]);
    expect(await ofLast({ restart_lsn: '0/1' })).toEqual([]);
    if (!tells) expect(await ofLast({ idle: 1500 })).toMatchObject([{ severity: 'warning' }]);
    // 20 GB are full within a day if 20 MB come every minute.
    const quick = {
      rows: rows.map((row) => ({ ...row, position: Number(row['position']) - 20 * MEGABYTE })),
      seconds: 60,
    };
    expect((await judged('PG_SLOT_INACTIVE', { thresholds, before: quick })).faults).toMatchObject([
      {
        severity: 'critical',
        object: 'spare',
        measured: { metric: 'slot_room_left_seconds', threshold: 86_400 },
      },
    ]);
    await follow(primary, faults[0]?.remediation ?? '');
    expect(await judged('PG_SLOT_INACTIVE', { thresholds })).toMatchObject({ faults: [], truncated: false });
  });

  test('a slot near its limit is found, then a lost slot', async () => {
    await primary.configure(
      `ALTER SYSTEM SET max_slot_wal_keep_size = '64MB'; SELECT pg_reload_conf()`,
      'max_slot_wal_keep_size',
      '64MB',
    );
    await primary.run('checkpoint');
    await primary.run(`select pg_create_physical_replication_slot('full', true)`);
    await primary.run(`select pg_create_physical_replication_slot('unused')`); // it keeps nothing yet
    expect(await judged('PG_SLOT_WAL_LEFT')).toMatchObject({ faults: [], near: [] });
    await emitUntilLeft(0.25 * 64 * MEGABYTE);
    expect(await judged('PG_SLOT_WAL_LEFT')).toMatchObject({ faults: [], near: ['full'] });
    await emitUntilLeft(0.19 * 64 * MEGABYTE);
    expect((await judged('PG_SLOT_WAL_LEFT')).faults).toMatchObject([
      { severity: 'warning', object: 'full' },
    ]);
    const before = { rows: await rowsOf('PG_SLOT_INACTIVE'), seconds: 300 };
    expect((await judged('PG_SLOT_INACTIVE', { before })).measures).toContainEqual({
      metric: 'slot_wal_bytes',
      object: 'full',
      value: expect.toSatisfy((kept) => kept > 51 * MEGABYTE),
      operator: null,
      warning: null,
      critical: null,
      limit: 64 * MEGABYTE,
      grows: true,
    });
    await emitUntilLeft(0.04 * 64 * MEGABYTE);
    expect((await judged('PG_SLOT_WAL_LEFT')).faults).toMatchObject([
      { severity: 'critical', object: 'full' },
    ]);
    await emitUntilLeft(0);
    await primary.run('select pg_switch_wal()');
    await emit(10);
    await primary.run('checkpoint');
    await primary.until(`select wal_status = 'lost' from pg_replication_slots where slot_name = 'full'`);
    expect((await judged('PG_SLOT_WAL_LEFT')).faults).toEqual([]);
    await primary.run(`select pg_drop_replication_slot('unused')`);

    const { faults } = await judged('PG_SLOT_INACTIVE');
    expect(faults).toMatchObject([{ severity: 'critical', object: 'full' }]);
    await follow(primary, faults[0]?.remediation ?? '');
    expect((await judged('PG_SLOT_INACTIVE')).faults).toEqual([]);
    await primary.configure(
      'ALTER SYSTEM RESET max_slot_wal_keep_size; SELECT pg_reload_conf()',
      'max_slot_wal_keep_size',
      '-1',
    );
  });

  test('a standby whose WAL the source has removed is cut off, and says so', async () => {
    expect(await judged('PG_STANDBY_CUT_OFF')).toMatchObject({
      passMessage: 'This server is not a standby.',
    });
    expect(await judged('PG_STANDBY_CUT_OFF', {}, { on: south })).toMatchObject({
      passMessage: 'The standby receives WAL.',
    });
    const hidden = await judged('PG_STANDBY_CUT_OFF', {}, { on: south, login: 'stranger' });
    expect(hidden).toMatchObject({ faults: [], grant: 'GRANT pg_monitor TO stranger;' });
    await south.pause();
    const [at] = await primary.run('select pg_walfile_name(pg_current_wal_lsn()) as file');
    for (let n = 0; n < 3; n++)
      await primary.run('select pg_switch_wal(), pg_logical_emit_message(true, $$x$$, $$y$$)');
    for (let tries = 0; tries < 20; tries++) {
      await primary.run('checkpoint');
      const [row] = await primary.run(
        `select count(*) = 0 as gone from pg_ls_waldir() where name = '${at?.['file']}'`,
      );
      if (row?.['gone'] === true) break;
      await primary.run('select pg_switch_wal(), pg_logical_emit_message(true, $$x$$, $$y$$)');
    }
    await south.start();
    const judge = () => judged('PG_STANDBY_CUT_OFF', {}, { on: south });
    const isCutOff = { faults: [{ severity: 'critical', object: null }] };
    await expect.poll(judge, { interval: 200 }).toMatchObject(isCutOff); // once it has asked its source
    const { faults } = await judge();
    await south.run(faults[0]?.remediation ?? '');
    const client = await south.open('watcher');
    const last = { rows: await sample(client, check('PG_STANDBY_CUT_OFF')), seconds: 300 };
    await client.end();
    expect((await judged('PG_STANDBY_CUT_OFF', { before: last }, { on: south })).faults).toHaveLength(1);
  });
});

test.each([
  'PG_STANDBY_CUT_OFF',
  'PG_REPLICATION_LAG',
  'PG_REPLICA_MISSING',
  'PG_SLOT_INACTIVE',
  'PG_SLOT_WAL_LEFT',
])('%s has reported each measure that its page documents', (id) => {
  expect(reportedMetrics(id)).toEqual(documentedMetrics(id).sort());
});
