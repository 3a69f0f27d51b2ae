import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { follow, paste } from './paste.ts';
import type { PostgresServer } from './postgres-server.ts';
import type { Provocation } from './provocations.ts';

// The tests do not wait for the minutes between two runs: a moment's count is judged as a minute's.
const AT_ONCE = { minimum_seconds: 0 };

/** Provocations of durability and performance. replication.test.ts covers replication, with standbys. */
export const replicationAndPerformance: Provocation[] = [
  {
    check_id: 'PG_ARCHIVER_FAILING',
    severity: 'critical',
    object: null,
    async provoke(server) {
      await server.run(`alter system set archive_mode = on`);
      await server.run(`alter system set archive_command = 'false'`);
      await server.restart();
      await server.run('create table if not exists archived (id int primary key)');
      await server.run('select pg_switch_wal()');
      await server.until('select failed_count > 0 from pg_stat_archiver');
      return async () => {
        await server.configure(
          `ALTER SYSTEM SET archive_command = 'true'; SELECT pg_reload_conf()`,
          'archive_command',
          'true',
        );
        await server.until('select last_archived_time > last_failed_time from pg_stat_archiver');
      };
    },
  },
  {
    check_id: 'PG_WAL_KEPT',
    severity: 'warning',
    object: null,
    async provoke(server) {
      await server.run(`alter system set min_wal_size = '32MB'`);
      await server.configure(
        `ALTER SYSTEM SET max_wal_size = '32MB'; SELECT pg_reload_conf()`,
        'max_wal_size',
        '32MB',
      );
      await server.run(`select pg_create_physical_replication_slot('holder', true)`);
      await server.run('create table logged (id int primary key)');
      for (let n = 0; n < 8; n++) {
        await server.run(`insert into logged values (${n})`);
        await server.run('select pg_switch_wal()');
      }
      return async (remediation) => {
        await server.run(remediation);
        await server.run(`select pg_drop_replication_slot('holder')`);
        await server.run('checkpoint');
        await server.configure(
          'ALTER SYSTEM RESET max_wal_size; ALTER SYSTEM RESET min_wal_size; SELECT pg_reload_conf()',
          'max_wal_size',
          '1GB',
        );
      };
    },
  },
  {
    check_id: 'PG_CHECKSUM_FAILURES',
    severity: 'critical',
    object: 'shop',
    async provoke(server) {
      await server.run('create table damaged (id int primary key)');
      await server.run('insert into damaged values (1)');
      await server.run('checkpoint');
      const [row = {}] = await server.run(`select pg_relation_filepath('damaged') as path`);
      await server.pause();
      damagePage(join(server.host, String(row['path'])));
      await server.resume();
      await expect(server.run('select * from damaged')).rejects.toThrow('invalid page');
      await server.until(`select checksum_failures > 0 from pg_stat_database where datname = 'shop'`);
      return async () => {
        await server.run('drop table damaged');
        await server.run('select pg_stat_reset()');
        await server.until(`select checksum_failures = 0 from pg_stat_database where datname = 'shop'`);
      };
    },
  },
  {
    check_id: 'PG_CHECKPOINTS_REQUESTED',
    severity: 'warning',
    object: null,
    thresholds: AT_ONCE,
    async provoke(server) {
      await server.configure(
        `ALTER SYSTEM SET max_wal_size = '32MB'; SELECT pg_reload_conf()`,
        'max_wal_size',
        '32MB',
      );
      await server.run('create table written (id int primary key)');
      await raising(server, await requestedCheckpoints(server), 3, async () => {
        for (let segments = 0; segments < 8; segments++) {
          await server.run(`insert into written values (${segments})`);
          await server.run('select pg_switch_wal()');
          if (segments % 2 === 1) await server.run('checkpoint');
        }
      });
      return async (remediation) => {
        await follow(server, remediation);
        await server.until(`select current_setting('max_wal_size') = '64MB'`);
        await server.configure(
          'ALTER SYSTEM RESET max_wal_size; SELECT pg_reload_conf()',
          'max_wal_size',
          '1GB',
        );
      };
    },
  },
  {
    check_id: 'PG_CACHE_HIT_LOW',
    severity: 'info',
    object: 'shop',
    thresholds: { ...AT_ONCE, minimum_reads: 5_000 },
    async provoke(server) {
      // One row per page, and more than a quarter of shared_buffers, so that a scan does not stay in them.
      await server.run('create table pages (id int primary key, body text)');
      await server.run('alter table pages alter column body set storage plain');
      await server.run(`insert into pages select n, repeat('x', 7500) from generate_series(1, 6000) n`);
      await server.run('vacuum full pages');
      await server.run('analyze pages');
      await raising(server, ofShop('blks_read'), 6_000, async () => {
        for (let times = 0; times < 3; times++) await server.run('select count(*) from pages');
      });
      return async () => {
        await server.run('drop table pages');
      };
    },
  },
  {
    check_id: 'PG_TEMP_FILES',
    severity: 'warning',
    object: 'shop',
    thresholds: { ...AT_ONCE, warning_bytes_per_hour: 100_000_000 }, // 20 MB in what counts as ten minutes
    async provoke(server) {
      await raising(server, ofShop('temp_bytes'), 20_000_000, async () => {
        const session = await server.open();
        await session.query(`set work_mem = '64kB'`);
        await session.query(
          'select count(*) from (select n from generate_series(1, 1500000) n order by n desc) t',
        );
        await session.end();
      });
      return async (remediation) => {
        await follow(server, remediation);
        await server.run('alter database shop reset work_mem');
      };
    },
  },
  {
    check_id: 'PG_DEADLOCKS',
    severity: 'warning',
    object: 'shop',
    thresholds: AT_ONCE,
    async provoke(server) {
      await server.run('create table pair (id int primary key)');
      await server.run('insert into pair values (1), (2)');
      await raising(server, ofShop('deadlocks'), 6, () => sixDeadlocks(server));
      return async () => {
        await server.run('drop table pair');
      };
    },
  },
  {
    check_id: 'PG_ROLLBACK_RATIO',
    severity: 'info',
    object: 'shop',
    thresholds: { ...AT_ONCE, minimum_transactions: 500 },
    async provoke(server) {
      await raising(server, ofShop('xact_rollback'), 600, async () => {
        await server.run('begin; rollback; '.repeat(600));
      });
      return async (remediation) => {
        await follow(server, remediation);
        await server.run('alter database shop reset log_min_error_statement');
      };
    },
  },
  {
    check_id: 'PG_SLOW_QUERIES',
    severity: 'info',
    object: expect.stringMatching(/^-?\d+$/),
    thresholds: { ...AT_ONCE, info_ms: 1_000, calls_per_day: 72 },
    prepare: async (server) => void (await server.run('select pg_sleep(1.1)')), // before 17 a new entry is judged later
    async provoke(server) {
      for (let times = 0; times < 3; times++) await server.run('select pg_sleep(1.1)');
      return async (remediation) => {
        expect(await paste(server, remediation)).toContain('select pg_sleep($1)');
      };
    },
  },
  {
    check_id: 'PG_PGSS_MISSING',
    severity: 'info',
    object: null,
    async provoke(server) {
      await server.run('drop extension pg_stat_statements');
      return async (remediation) => {
        await follow(server, remediation);
        await server.run('alter extension pg_stat_statements set schema "Extra stats"');
      };
    },
  },
  {
    check_id: 'PG_PGSS_MISSING',
    severity: 'info',
    object: null,
    async provoke(server) {
      const set = `alter system set pg_stat_statements.track = 'none'; SELECT pg_reload_conf()`;
      await server.configure(set, 'pg_stat_statements.track', 'none');
      return async (remediation) => {
        await follow(server, remediation);
        await server.until(`select current_setting('pg_stat_statements.track') = 'top'`);
      };
    },
  },
];

/** Changes a byte of the first page, after its header. */
/** Changes a byte of the first page of a table's file. */
export function damagePage(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, 'damage', 8_000);
  closeSync(file);
}

/** Runs a workload, and waits until the statistics show it: before PostgreSQL 15 they are delayed. */
async function raising(
  server: PostgresServer,
  counter: string,
  by: number,
  work: () => Promise<void>,
): Promise<void> {
  const [row = {}] = await server.run(`select (${counter})::float8 as was`);
  await work();
  await server.until(`select (${counter}) >= ${Number(row['was']) + by}`);
}

function ofShop(counter: string): string {
  return `select ${counter} from pg_stat_database where datname = 'shop'`;
}

async function requestedCheckpoints(server: PostgresServer): Promise<string> {
  const [row = {}] = await server.run('show server_version_num');
  return Number(row['server_version_num']) < 170_000
    ? 'select checkpoints_req from pg_stat_bgwriter'
    : 'select num_requested from pg_stat_checkpointer';
}

async function sixDeadlocks(server: PostgresServer): Promise<void> {
  const [one, two] = await Promise.all([server.open(), server.open()]);
  const lock = (id: number) => `select from pair where id = ${id} for update`;
  const lockOther = async (session: typeof one, id: number) => {
    await session.query(lock(id)).catch(() => {}); // one of the two is cancelled
    await session.query('rollback');
  };
  for (const session of [one, two]) await session.query(`set deadlock_timeout = '10ms'`);
  for (let times = 0; times < 6; times++) {
    await Promise.all([one.query(`begin; ${lock(1)}`), two.query(`begin; ${lock(2)}`)]);
    await Promise.all([lockOther(one, 2), lockOther(two, 1)]);
  }
  await Promise.all([one.end(), two.end()]);
}
