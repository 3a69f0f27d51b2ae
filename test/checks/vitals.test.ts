import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SeriesValue } from '../../src/checks/measure.ts';
import { postgresVitals } from '../../src/checks/vitals/postgres-vitals.ts';
import type { CounterBefore, CounterSample } from '../../src/monitor/counters.ts';
import { measure } from '../../src/monitor/measure.ts';
import type { Measured } from '../../src/monitor/nothing-measured.ts';
import { PostgresServer, testedPrograms, toTarget } from './postgres-server.ts';
import { Standby } from './standby.ts';

const RATES = postgresVitals
  .map(({ metric }) => metric)
  .filter((metric) => metric.endsWith('_per_second') || metric === 'cache_hit_ratio');
const OF_DATABASES = RATES.filter((metric) => !/wal|checkpoints/.test(metric));

/** Runs all checks and reads all vitals. `before` are the samples of a run that was so many seconds ago. */
async function run(
  { host, port, login = 'watcher' }: { host: string; port: number; login?: string },
  before: readonly CounterSample[] = [],
  seconds = 60,
): Promise<Measured> {
  const target = toTarget({ host, port }, login);
  const last: CounterBefore[] = JSON.parse(JSON.stringify(before.map((sample) => ({ ...sample, seconds }))));
  const signal = AbortSignal.timeout(50_000);
  return measure(target, { allowPrivateTargets: true, thresholds: {}, before: last, signal });
}

const vitals = ({ measures }: Measured) => measures.filter(({ checkId }) => checkId === '');
const names = (measured: Measured) => [...new Set(vitals(measured).map(({ metric }) => metric))];
const vitalOf = (measured: Measured, metric: string, object: string | null = null) =>
  vitals(measured).find((vital) => vital.metric === metric && vital.object === object)?.value;

describe('PostgreSQL', () => {
  let server: PostgresServer;
  beforeEach(async () => {
    server = await PostgresServer.start(testedPrograms());
  });
  afterEach(() => server.stop());

  test('two runs: rates of what happened between them, and the state of now', async () => {
    await server.run('create table parcels (id int primary key, note text)');
    await server.run('insert into parcels values (0)');
    await server.run('vacuum analyze parcels');
    await server.settle();
    const first = await run(server);
    expect(names(first).filter((metric) => RATES.includes(metric))).toEqual([]);

    await server.run(`insert into parcels select n, repeat('x', 100) from generate_series(1, 30000) n`);
    await server.run(`begin; rollback; `.repeat(120));
    await server.run('checkpoint');
    await server.run('vacuum analyze parcels');
    const lost = await server.open();
    lost.on('error', () => {});
    const { rows } = await lost.query<{ pid: number }>('select pg_backend_pid() as pid');
    await server.run(`select pg_terminate_backend(${rows[0]?.pid})`);
    await server.settle();
    const [waiting, holding, idle] = [await server.open(), await server.open(), await server.open('app')];
    await holding.query('begin; lock table parcels');
    const waits = waiting.query('select count(*) from parcels').catch(() => {});
    await server.until(`select exists (select from pg_locks where not granted)`);
    // Sessions that have ended are gone.
    await server.until(
      `select count(*) = 3 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    await wait(100);
    const second = await run(server, first.samples);
    await holding.query('rollback');
    await waits;
    await Promise.all([waiting, holding, idle].map((client) => client.end()));

    expect(names(second)).toEqual(
      postgresVitals.map(({ metric }) => metric).filter((metric) => !/^replication/.test(metric)),
    );
    const value = (metric: string) => vitalOf(second, metric) ?? Number.NaN;
    expect(value('rows_written_per_second')).toBeGreaterThan(400);
    expect(value('rows_written_per_second')).toBeLessThan(600);
    expect(value('rollbacks_per_second')).toBeGreaterThan(1.5);
    expect(value('rollbacks_per_second')).toBeLessThan(3);
    expect(value('transactions_per_second')).toBeGreaterThan(value('rollbacks_per_second'));
    expect(value('wal_bytes_per_second')).toBeGreaterThan((30_000 * 100) / 60);
    expect(value('requested_checkpoints_per_second')).toBeCloseTo(1 / 60, 2);
    expect(value('cache_hit_ratio')).toBeGreaterThan(0.5);
    expect(value('cache_hit_ratio')).toBeLessThanOrEqual(1);
    expect(value('connections_count')).toBe(3);
    expect(value('opened_connections_per_second')).toBeGreaterThan(3 / 60);
    expect(value('lost_connections_per_second')).toBeCloseTo(1 / 60, 2);
    expect(value('active_connections_count')).toBe(1);
    expect(value('idle_connections_count')).toBe(1);
    expect(value('idle_in_transaction_connections_count')).toBe(1);
    expect(value('lock_waiters_count')).toBe(1);
    expect(value('longest_transaction_seconds')).toBeGreaterThan(0.1);
    // The waiting query did nothing else.
    expect(value('longest_query_seconds')).toBeLessThan(value('longest_transaction_seconds'));
    expect(value('autovacuum_workers_count')).toBe(0);
    expect(value('transaction_id_age_count')).toBeGreaterThan(1);

    // Sizes are read once an hour and repeated between, also of a table that is locked.
    expect(vitalOf(second, 'table_bytes', 'public.parcels')).toBe(8_192);
    expect(second.samples.filter(({ checkId }) => checkId.startsWith('VITALS_'))).toEqual([]);
    const locker = await server.open();
    await locker.query('begin; lock table parcels in access exclusive mode');
    const third = await run(server, first.samples, 3_600);
    await locker.end();
    expect(vitalOf(third, 'table_bytes', 'public.parcels')).toBeGreaterThan(3e6);
    expect(vitalOf(third, 'index_bytes', 'public.parcels_pkey')).toBeGreaterThan(3e5);
    const sizes = vitals(third).filter(({ metric }) => metric === 'database_bytes');
    expect(sizes.map(({ database }) => database).sort()).toEqual(['postgres', 'shop']);
    expect(sizes.every(({ value, grows }) => value > 5e6 && grows)).toBe(true);
    const fourth = await run(server, third.samples);
    const ofRelations = ({ metric }: SeriesValue) => /^(?:database|table|index)_bytes$/.test(metric);
    expect(vitals(fourth).filter(ofRelations)).toEqual(vitals(third).filter(ofRelations));
  });

  test('a reset, a dropped database or a restart gives a gap, and the next run values again', async () => {
    await server.run('create database other');
    const first = await run(server);
    await server.run('select pg_stat_reset()');
    await server.settle();
    const afterReset = await run(server, first.samples);
    expect(names(afterReset).filter((metric) => RATES.includes(metric))).toEqual(
      RATES.filter((metric) => !OF_DATABASES.includes(metric)),
    );
    await server.run('drop database other');
    const afterDrop = await run(server, afterReset.samples);
    expect(names(afterDrop).filter((metric) => OF_DATABASES.includes(metric))).toEqual([]);
    await server.settle();
    const again = await run(server, afterDrop.samples);
    expect(names(again).filter((metric) => RATES.includes(metric))).toEqual(RATES);

    await server.run(`select pg_stat_reset_shared('wal')`);
    await server.settle();
    const afterWal = await run(server, again.samples);
    expect(names(afterWal)).not.toContain('wal_bytes_per_second');
    expect(names(afterWal)).toContain('checkpoints_per_second');

    await server.restart();
    const restarted = await run(server, afterWal.samples);
    await server.settle();
    expect(names(restarted).filter((metric) => RATES.includes(metric))).toEqual([]);
    expect(names(restarted)).toContain('connections_count');
    const after = await run(server, restarted.samples);
    expect(names(after).filter((metric) => RATES.includes(metric))).toEqual(RATES);
    expect(vitals(after).every(({ value }) => value >= 0)).toBe(true);
    const tooSoon = await run(server, restarted.samples, 0);
    expect(names(tooSoon).filter((metric) => RATES.includes(metric))).toEqual([]);
  });

  test('a database whose DROP was interrupted is in no vital: no VACUUM can reach it', async () => {
    await server.run('create database half');
    await server.run(`update pg_database set datconnlimit = -2, datfrozenxid = '3' where datname = 'half'`);
    const [row] = await server.run(`select age(xid '3') as age`);
    const first = await run(server);
    expect(vitalOf(first, 'transaction_id_age_count')).toBeLessThan(Number(row?.['age']) / 2);
    expect(vitals(first).map(({ object }) => object)).not.toContain('half');
  });

  test('without pg_monitor the sessions of others are left out, never wrong', async () => {
    const measured = await run({ host: server.host, port: server.port, login: 'stranger' });
    expect(names(measured)).toEqual(['transaction_id_age_count', 'database_bytes']);
    const { findings = [] } =
      measured.outcomes.find(({ check }) => check.id === 'PG_PRIVILEGE_MISSING') ?? {};
    expect(findings[0]?.metric_line).toContain('these vitals are not measured: counters and sessions');
  });

  test('a standby: its lag, no WAL of its own; and the primary shows the lag of each', async () => {
    await server.pause();
    const standby = new Standby(server, 'north', testedPrograms());
    await server.resume({ listen_addresses: '127.0.0.1', max_wal_senders: '5' });
    await standby.start();
    try {
      await server.until(
        `select exists (select from pg_stat_replication where replay_lsn = pg_current_wal_lsn())`,
      );
      expect(vitalOf(await run(server), 'replication_lag_bytes', 'north/127.0.0.1')).toBeLessThan(1e6);
      await server.run('create table seen ()');
      await server.until(
        `select exists (select from pg_stat_replication where replay_lsn = pg_current_wal_lsn())`,
      );
      await standby.run('select pg_wal_replay_pause()');
      await server.run('create table filler as select n, md5(n::text) from generate_series(1, 50000) n');
      await server.until(
        `select exists (select from pg_stat_replication where flush_lsn = pg_current_wal_lsn())`,
      );
      await wait(300);
      expect(vitalOf(await run(server), 'replication_lag_bytes', 'north/127.0.0.1')).toBeGreaterThan(1e6);
      const first = await run({ host: standby.host, port: server.port });
      expect(vitalOf(first, 'replication_lag_seconds')).toBeGreaterThan(0.1);
      await standby.run('select pg_wal_replay_resume()');
      await server.until(
        `select exists (select from pg_stat_replication where replay_lsn = pg_current_wal_lsn())`,
      );
      const second = await run({ host: standby.host, port: server.port }, first.samples);
      expect(vitalOf(second, 'replication_lag_seconds')).toBe(0);
      // 14 has no statistics of a database, and no time of their reset, before they are first written.
      let third = second;
      for (let tries = 0; tries < 5 && !names(third).includes('transactions_per_second'); tries++) {
        await server.settle();
        third = await run({ host: standby.host, port: server.port }, third.samples);
      }
      expect(names(third)).toContain('transactions_per_second');
      expect(names(third)).not.toContain('wal_bytes_per_second');
    } finally {
      await standby.stop();
    }
  });
});

describe('a hostile server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.run('alter system set allow_system_table_mods = on');
    await server.restart();
  });
  afterAll(() => server.stop());

  /** Makes a view of the server lie in one column. */
  async function lie(view: string, column: string, value: string): Promise<void> {
    const [row = {}] = await server.run(`select pg_get_viewdef('pg_catalog.${view}') as text`);
    const text = String(row['text']).replace(new RegExp(`[^,\\n]*\\b${column}\\b`), ` ${value} AS ${column}`);
    await server.run(`create or replace view pg_catalog.${view} as ${text}`);
  }

  test('a value that is no number, or that no server can have, is left out; a counter that falls gives a gap', async () => {
    await lie('pg_stat_wal', 'wal_bytes', `'NaN'::numeric`);
    const first = await run(server);
    expect(names(await run(server, first.samples))).not.toContain('wal_bytes_per_second');
    await lie('pg_stat_wal', 'wal_bytes', `1000::numeric`);
    const low = await run(server);
    await lie('pg_stat_wal', 'wal_bytes', `(1e300)::numeric`);
    const huge = await run(server, low.samples);
    expect(names(huge)).not.toContain('wal_bytes_per_second');
    expect(names(huge)).toContain('transactions_per_second');
    await lie('pg_stat_wal', 'wal_bytes', `10::numeric`);
    expect(names(await run(server, huge.samples))).not.toContain('wal_bytes_per_second');
    expect(huge.measures.every(({ value }) => Number.isFinite(value) && Math.abs(value) <= 1e30)).toBe(true);
  });

  test('sizes that can’t be read are not tried again within an hour', async () => {
    await server.run('alter function pg_database_size(oid) rename to hidden_size');
    const first = await run(server);
    expect(names(first)).not.toContain('database_bytes');
    expect(names(first)).toContain('transaction_id_age_count');
    await server.run('alter function hidden_size(oid) rename to pg_database_size');
    expect(names(await run(server, first.samples))).not.toContain('database_bytes');
    expect(names(await run(server, first.samples, 3_600))).toContain('database_bytes');
  });

  test('vitals that the login may not read are said in each run, with the GRANT, until it has the privilege', async () => {
    const denied = ({ outcomes }: Measured) =>
      outcomes.find(({ check }) => check.id === 'PG_PRIVILEGE_MISSING')?.findings ?? [];
    await server.run('revoke execute on function pg_database_size(oid) from public, pg_read_all_stats');
    const first = await run(server);
    const second = await run(server, first.samples);
    for (const measured of [first, second]) {
      expect(names(measured)).not.toContain('database_bytes');
      expect(denied(measured)).toMatchObject([
        {
          status: 'info',
          metric_line: expect.stringContaining(
            'Without a privilege these vitals are not measured: sizes of databases. The remediation grants it.',
          ),
          remediation: expect.stringMatching(
            /GRANT EXECUTE ON FUNCTION "pg_catalog"\."pg_database_size"\("pg_catalog"\."oid"\) TO watcher;/,
          ),
        },
      ]);
    }
    await server.run(denied(second)[0]?.remediation ?? '');
    const granted = await run(server, second.samples);
    expect(names(granted)).toContain('database_bytes');
    expect(JSON.stringify(denied(granted))).not.toContain('sizes of databases');
    await server.run('grant execute on function pg_database_size(oid) to public, pg_read_all_stats');
  });

  test('vitals that take too long are left out, the checks are not', async () => {
    const first = await run(server);
    await lie('pg_stat_wal', 'wal_bytes', `(select 1::numeric from pg_sleep(20))`);
    const slow = await run(server, first.samples);
    expect(names(slow).filter((metric) => !/^(?:database|table|index)_bytes$/.test(metric))).toEqual([]);
    expect(slow.cost.milliseconds).toBeGreaterThan(5_000);
    expect(slow.cost.milliseconds).toBeLessThan(8_000);
    const statuses = slow.outcomes.flatMap(({ findings }) => findings).map(({ status }) => status);
    expect(statuses).not.toContain('error');
  });
});
