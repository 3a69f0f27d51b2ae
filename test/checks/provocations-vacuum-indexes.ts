import { setTimeout as wait } from 'node:timers/promises';
import { follow } from './paste.ts';
import type { PostgresServer } from './postgres-server.ts';
import type { Provocation } from './provocations.ts';

const AT_ONCE = { warning_seconds: 0.2, critical_seconds: 3600 };

/** Provocations of the checks of connections, vacuum and indexes. */
export const vacuumAndIndexes: Provocation[] = [
  {
    check_id: 'PG_BLOCKED_SESSIONS',
    severity: 'warning',
    object: 'shop/app/app',
    thresholds: AT_ONCE,
    async provoke(server) {
      const [holder, second, third] = await Promise.all([
        server.open('app'),
        server.open('stranger'),
        server.open('stranger'),
      ]);
      await holder.query('begin; select pg_advisory_xact_lock(7)');
      // The third waits for the second too, which is not a blocker itself.
      const waiting = [second, third].map((session) =>
        session.query('begin; select pg_advisory_xact_lock(7); commit').then(() => session.end()),
      );
      await server.until('select count(*) = 2 from pg_locks where not granted');
      await wait(300);
      return async (remediation) => {
        await follow(server, remediation);
        await Promise.all(waiting);
      };
    },
  },
  {
    check_id: 'PG_BLOCKED_SESSIONS',
    severity: 'warning',
    object: 'prepared transaction',
    thresholds: AT_ONCE,
    async provoke(server) {
      await run(
        server,
        'create table seats (id int primary key)',
        `begin; lock table seats; prepare transaction 'seat 7'`,
      );
      const session = await server.open();
      const waiting = session.query('select from seats').then(() => session.end());
      await server.until('select count(*) = 1 from pg_locks where not granted');
      await wait(300);
      return async (remediation) => {
        await follow(server, remediation);
        await waiting;
      };
    },
  },
  {
    check_id: 'PG_LONG_XACT',
    severity: 'warning',
    object: 'shop/app/app',
    thresholds: AT_ONCE,
    async provoke(server) {
      const session = await server.open('app');
      await session.query('begin');
      await wait(300);
      return noMoreOfTheApp(server);
    },
  },
  {
    check_id: 'PG_PREPARED_XACT_OLD',
    severity: 'warning',
    object: 'shop/postgres',
    thresholds: AT_ONCE,
    async provoke(server) {
      await server.run(`begin; select txid_current(); prepare transaction 'It''s old'`);
      await wait(300);
      return fixedBy(server, 'select count(*) = 0 from pg_prepared_xacts');
    },
  },
  {
    check_id: 'PG_MAX_CONN_HIGH',
    severity: 'info',
    object: null,
    async provoke(server) {
      await server.run('alter system set max_connections = 301');
      await server.restart();
      return async (remediation) => {
        await follow(server, remediation);
        // 300 is so close to the limit that a ticket would stay open; the usual number resolves it.
        await server.run('alter system reset max_connections');
        await server.restart();
      };
    },
  },
  {
    check_id: 'PG_MXID_WRAPAROUND',
    severity: 'warning',
    object: 'shop',
    async provoke(server) {
      // 1.3 billion multixacts back, on the circle of 2^32.
      await server.run(`
        update pg_database
           set datminmxid = ((next_multixact_id::text::bigint + 4294967296 - 1300000000) % 4294967296)::text::xid
          from pg_control_checkpoint()
         where datname = 'shop'`);
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_TABLE_AUTOVACUUM_OFF',
    severity: 'warning',
    object: 'public."Logs"',
    async provoke(server) {
      await server.run(
        `create table "Logs" (id int primary key, line text)
           with (autovacuum_enabled = off, toast.autovacuum_enabled = no)`,
      );
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_XMIN_HELD',
    severity: 'warning',
    object: 'session shop/app/app',
    thresholds: AT_ONCE,
    async provoke(server) {
      const session = await server.open('app');
      await session.query('begin isolation level repeatable read; select 1');
      await wait(300);
      return noMoreOfTheApp(server);
    },
  },
  {
    check_id: 'PG_XMIN_HELD',
    severity: 'warning',
    object: 'prepared transaction shop/postgres',
    thresholds: AT_ONCE,
    async provoke(server) {
      await server.run(`begin; select txid_current(); prepare transaction 'held'`);
      await wait(300);
      return fixedBy(server, 'select count(*) = 0 from pg_prepared_xacts');
    },
  },
  {
    check_id: 'PG_STALE_STATS',
    severity: 'warning',
    object: 'public.arrivals',
    thresholds: { naps: 0 },
    async provoke(server) {
      await run(
        server,
        'create table arrivals (id int primary key)',
        'insert into arrivals select generate_series(1, 10001)',
      );
      await server.until(
        `select n_mod_since_analyze > 10000 from pg_stat_all_tables where relname = 'arrivals'`,
      );
      return fixedBy(
        server,
        `select n_mod_since_analyze = 0 from pg_stat_all_tables where relname = 'arrivals'`,
      );
    },
  },
  {
    check_id: 'PG_TABLE_BLOAT_EST',
    severity: 'warning',
    object: 'public."Archive"',
    isAlone: true,
    thresholds: { warning_bytes: 15_000_000 }, // more than the table of the bloated index
    async provoke(server) {
      await run(
        server,
        'create table "Archive" (id int primary key, body text)',
        `insert into "Archive" select n, repeat('x', 500) from generate_series(1, 30000) n`,
        'delete from "Archive" where id % 20 <> 0',
        'vacuum analyze "Archive"',
      );
      await server.settle();
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_UNUSED_INDEX',
    severity: 'info',
    object: 'public.parts_maker_idx',
    isAlone: true,
    thresholds: { minimum_bytes: 1_000_000, statistics_days: 0 },
    async provoke(server) {
      await run(
        server,
        'create table parts (id int primary key, maker text)',
        `insert into parts select n, 'maker ' || n from generate_series(1, 40000) n`,
        'create index on parts (maker)',
      );
      await server.settle();
      await server.run('analyze parts');
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_REDUNDANT_INDEX',
    severity: 'info',
    object: 'public.stays_guest_idx',
    thresholds: { minimum_bytes: 0 },
    async provoke(server) {
      await run(
        server,
        'create table stays (id int primary key, guest int, room int)',
        'create index on stays (guest)',
        'create index on stays (guest, room)',
      );
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_INDEX_BLOAT_EST',
    severity: 'warning',
    object: 'public."By name"',
    thresholds: { warning_bytes: 10_000_000 },
    async provoke(server) {
      await run(
        server,
        'create table guests (id int primary key, name text)',
        `insert into guests select n, 'Guest of the house number ' || md5(n::text) || n from generate_series(1, 150000) n`,
        'create index "By name" on guests (name)',
        // The last pages keep rows, so the table shrinks only a little and the index not at all.
        'delete from guests where id % 20 <> 0',
        'vacuum analyze guests',
      );
      await server.settle();
      return fixedBy(server);
    },
  },
  {
    check_id: 'PG_TOO_MANY_INDEXES',
    severity: 'info',
    object: 'public.wide',
    thresholds: { minimum_rows: 0 },
    async provoke(server) {
      const columns = Array.from({ length: 11 }, (_, n) => `c${n}`);
      await run(
        server,
        `create table wide (id int primary key, ${columns.map((name) => `${name} int`).join(', ')})`,
        ...columns.slice(1).map((name) => `create index on wide (${name})`),
      );
      return async (remediation) => {
        await follow(server, remediation);
        await server.run('drop index wide_c1_idx');
      };
    },
  },
  {
    check_id: 'PG_SEQ_SCAN_HEAVY',
    severity: 'info',
    object: 'public.readings',
    async prepare(server) {
      await run(
        server,
        'create table readings (id int primary key, place int)',
        'insert into readings select n, n from generate_series(1, 10000) n',
        'analyze readings',
      );
    },
    async provoke(server) {
      for (let n = 0; n < 10; n++) await server.run('select from readings where place = 7');
      await server.until(`select seq_scan >= 10 from pg_stat_all_tables where relname = 'readings'`);
      return fixedBy(server);
    },
  },
];

function noMoreOfTheApp(server: PostgresServer): (remediation: string) => Promise<void> {
  return fixedBy(server, `select count(*) = 0 from pg_stat_activity where usename = 'app'`);
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
