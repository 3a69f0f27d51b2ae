import { setTimeout as wait } from 'node:timers/promises';
import type { Provocation as AnyProvocation } from '../support/provocation.ts';
import { follow } from './paste.ts';
import { oldPrograms, PASSWORD, type PostgresServer, testedPrograms } from './postgres-server.ts';
import { ofDatabases } from './provocations-databases.ts';
import { replicationAndPerformance } from './provocations-replication-performance.ts';
import { schemaAndSettings } from './provocations-schema-settings.ts';
import { vacuumAndIndexes } from './provocations-vacuum-indexes.ts';

/** Provocations for PostgreSQL. */
export type Provocation = AnyProvocation<PostgresServer>;

const AT_ONCE = { warning_seconds: 0.2, critical_seconds: 3600 };

/** Checks whose fault another test file makes, and that file. */
export const provokedElsewhere: ReadonlyMap<string, string> = new Map([
  ['CONN_CHECKS_INCOMPLETE', 'boundaries.test.ts'], // needs 50,000 tables
  ['PG_REPLICATION_LAG', 'replication.test.ts'], // needs a standby, as the next two do
  ['PG_REPLICA_MISSING', 'replication.test.ts'],
  ['PG_REPLAY_PAUSED', 'replication.test.ts'],
  ['PG_STANDBY_CUT_OFF', 'replication.test.ts'],
  ['PG_SLOT_INACTIVE', 'replication.test.ts'], // needs two runs before PostgreSQL 17
  ['PG_SLOT_WAL_LEFT', 'replication.test.ts'], // needs a slot, which is inactive too
  ['PG_QUERY_SLOWER', 'queries.test.ts'], // needs days of history, as the next one does
  ['PG_QUERY_NEW', 'queries.test.ts'],
  ['PG_QUERY_READS', 'queries.test.ts'],
  ['PG_MINOR_OUTDATED', 'schema-settings.test.ts'], // needs an older build, so the test has its own table of versions
]);

/** At least one per check. Objects stay after the fix, and must no longer be a fault. */
export const provocations: Provocation[] = [
  {
    check_id: 'CONN_UNREACHABLE',
    severity: 'critical',
    object: null,
    async provoke(server) {
      await server.pause();
      return () => server.resume();
    },
  },
  {
    check_id: 'CONN_AUTH_FAILED',
    severity: 'critical',
    object: null,
    async provoke(server) {
      await server.run(`alter role watcher password 'another'`);
      return async () => {
        await server.run(`alter role watcher password '${PASSWORD}'`);
      };
    },
  },
  {
    check_id: 'PG_CONN_SATURATION',
    severity: 'warning',
    object: null,
    async provoke(server) {
      // 17 of 20 are for ordinary roles. With the watcher's own session 14 or 15 are in use: 82 or 88 %.
      const sessions = await Promise.all(Array.from({ length: 13 }, () => server.open('app')));
      return async () => {
        await Promise.all(sessions.map((session) => session.end()));
        await server.until(`select count(*) < 5 from pg_stat_activity where usename = 'app'`);
      };
    },
  },
  {
    check_id: 'PG_IDLE_IN_TXN',
    severity: 'warning',
    object: 'shop/app/app',
    thresholds: AT_ONCE,
    async provoke(server) {
      const session = await server.open('app');
      await session.query('begin');
      await wait(300);
      return async (remediation) => {
        await follow(server, remediation);
        await server.until(`select count(*) = 0 from pg_stat_activity where usename = 'app'`);
        await server.run('alter role app in database shop reset idle_in_transaction_session_timeout');
      };
    },
  },
  {
    check_id: 'PG_LONG_QUERY',
    severity: 'warning',
    object: 'shop/app/app',
    thresholds: AT_ONCE,
    async provoke(server) {
      const session = await server.open('app');
      const cancelled = session.query('select pg_sleep(60)').catch(() => {});
      await server.until(`select count(*) = 1 from pg_stat_activity where wait_event = 'PgSleep'`);
      await wait(300);
      return async (remediation) => {
        await follow(server, remediation);
        await cancelled;
        await session.end();
        await server.until(`select count(*) = 0 from pg_stat_activity where usename = 'app'`);
      };
    },
  },
  {
    check_id: 'PG_XID_WRAPAROUND',
    severity: 'warning',
    object: 'shop',
    async provoke(server) {
      // 1.3 billion transactions back, on the circle of 2^32.
      await server.run(`
        update pg_database
           set datfrozenxid = ((txid_current() + 4294967296 - 1300000000) % 4294967296)::text::xid
         where datname = 'shop'`);
      return async (remediation) => {
        await follow(server, remediation);
      };
    },
  },
  settingProvocation('PG_AUTOVACUUM_OFF', 'warning', 'autovacuum'),
  {
    ...settingProvocation('PG_AUTOVACUUM_OFF', 'warning', 'track_counts'),
    blinds: ['PG_DEAD_TUPLES', 'PG_STALE_STATS', 'PG_UNUSED_INDEX', 'PG_SEQ_SCAN_HEAVY'],
  },
  {
    check_id: 'PG_DEAD_TUPLES',
    severity: 'warning',
    object: 'public."Dead ""rows"""',
    thresholds: { naps: 0 },
    async provoke(server) {
      await run(
        server,
        `create table "Dead ""rows""" (id int primary key)`,
        `insert into "Dead ""rows""" select generate_series(1, 30000)`,
        `delete from "Dead ""rows""" where id % 3 <> 0`,
        'analyze "Dead ""rows"""',
      );
      await server.until(
        "select max(n_dead_tup) = 20000 from pg_stat_user_tables where relname like 'Dead%'",
      );
      return fixedBy(
        server,
        "select max(n_dead_tup) = 0 from pg_stat_user_tables where relname like 'Dead%'",
      );
    },
  },
  {
    check_id: 'PG_INVALID_INDEX',
    severity: 'warning',
    object: 'public."By number"',
    async provoke(server) {
      await run(
        server,
        'create table numbered (id int primary key, number int)',
        'insert into numbered values (1, 7), (2, 7)',
      );
      await server.run('create unique index concurrently "By number" on numbered (number)').catch(() => {});
      await server.run('update numbered set number = id');
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_DUPLICATE_INDEX',
    severity: 'warning',
    object: 'public.placed_again',
    thresholds: { minimum_bytes: 0 },
    async provoke(server) {
      await run(
        server,
        'create table placements (id int primary key, placed date)',
        'create index placed_once on placements (placed)',
        'create index placed_again on placements (placed)',
      );
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_FK_UNINDEXED',
    severity: 'info',
    object: 'public.orders.orders_customer_fkey',
    thresholds: { minimum_rows: 0 },
    async provoke(server) {
      await run(
        server,
        'create table customers (id int primary key)',
        'create table orders (id int primary key, customer int references customers)',
      );
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    severity: 'info',
    object: 'public.notes',
    thresholds: { minimum_rows: 0 },
    async provoke(server) {
      await server.run('create table notes (body text)');
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    severity: 'warning',
    object: 'public.letters',
    async provoke(server) {
      await run(server, 'create table letters (body text)', 'create publication post for table letters');
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    severity: 'warning',
    object: 'public.receipts_id_seq',
    async provoke(server) {
      await run(
        server,
        'create table receipts (id serial primary key)',
        `select setval('receipts_id_seq', 2000000000)`,
      );
      return fixedBy(server);
    },
  },
  ...ofDatabases,
  settingProvocation('PG_FSYNC_OFF', 'critical', 'fsync'),
  settingProvocation('PG_FSYNC_OFF', 'critical', 'full_page_writes'),
  {
    check_id: 'PG_VERSION_EOL',
    severity: 'warning',
    object: null,
    async provoke(server) {
      await server.replace(oldPrograms());
      return () => server.replace(testedPrograms());
    },
  },
  {
    check_id: 'PG_SHARED_BUFFERS_LOW',
    severity: 'warning',
    object: null,
    async provoke(server) {
      await server.run(`alter system set shared_buffers = '64MB'`);
      await server.restart();
      return async (remediation) => {
        await follow(server, remediation);
        await server.restart();
        await server.run('alter system reset shared_buffers');
      };
    },
  },
  ...replicationAndPerformance,
  ...schemaAndSettings,
  ...vacuumAndIndexes,
];

function settingProvocation(check_id: string, severity: Provocation['severity'], name: string): Provocation {
  return {
    check_id,
    severity,
    object: name,
    async provoke(server) {
      await server.configure(`ALTER SYSTEM SET ${name} = off; SELECT pg_reload_conf()`, name, 'off');
      return async (remediation) => {
        await follow(server, remediation);
        await server.until(`select current_setting('${name}') = 'on'`);
      };
    },
  };
}

async function run(server: PostgresServer, ...statements: string[]): Promise<void> {
  for (const statement of statements) await server.run(statement);
}

function fixedBy(server: PostgresServer, fixed = 'select true'): (remediation: string) => Promise<void> {
  return async (remediation) => {
    await follow(server, remediation);
    await server.until(fixed);
  };
}
