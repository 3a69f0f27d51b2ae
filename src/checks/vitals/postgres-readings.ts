import { isNoBackup } from '../postgres/backups.ts';
import { resetAt } from '../postgres/counted-since.ts';
import { LOCK_WAITS, ownTime } from '../postgres/lock-waits.ts';
import { type Formulas, gaugesIn, perSecond, shareOf, toRates } from './growth.ts';
import type { VitalReading } from './vital.ts';

/** Counters of pg_stat_database, added up over all databases. */
const OF_DATABASES: Formulas = {
  transactions_per_second: perSecond('transactions'),
  rollbacks_per_second: perSecond('rollbacks'),
  cache_hit_ratio: shareOf('block_hits', 'block_reads'),
  rows_read_per_second: perSecond('rows_read'),
  rows_written_per_second: perSecond('rows_written'),
  temporary_bytes_per_second: perSecond('temporary_bytes'),
  deadlocks_per_second: perSecond('deadlocks'),
  opened_connections_per_second: perSecond('sessions'),
  lost_connections_per_second: perSecond('lost_sessions'),
};

const OF_SERVER: Formulas = {
  wal_bytes_per_second: perSecond('wal_bytes'),
  checkpoints_per_second: perSecond('checkpoints_timed', 'checkpoints_requested'),
  requested_checkpoints_per_second: perSecond('checkpoints_requested'),
};

const lagOfStandby = `
             case when not server.standby then null
                  when not exists (select from pg_stat_wal_receiver)
                    or pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn()
                  then extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())
                  else 0 end`;

// A figure: its name, its value, whether it is a counter, and when that was reset.
const figures = (hasWal: boolean) => `
           ('transactions',          databases.transactions,    true, databases.reset),
           ('rollbacks',             databases.rollbacks,       true, databases.reset),
           ('block_hits',            databases.block_hits,      true, databases.reset),
           ('block_reads',           databases.block_reads,     true, databases.reset),
           ('rows_read',             databases.rows_read,       true, databases.reset),
           ('rows_written',          databases.rows_written,    true, databases.reset),
           ('temporary_bytes',       databases.temporary_bytes, true, databases.reset),
           ('deadlocks',             databases.deadlocks,       true, databases.reset),
           ('sessions',              databases.sessions,        true, databases.reset),
           ('lost_sessions',         databases.lost_sessions,   true, databases.reset),
           ('databases',             databases.databases,       true, null),
           ('wal_bytes',             case when not server.standby then wal.wal_bytes end, true, wal.reset),
           ('checkpoints_timed',     checkpoints.timed,         true, checkpoints.reset),
           ('checkpoints_requested', checkpoints.requested,     true, checkpoints.reset),
           ('connections_count',        case when server.sees_all then sessions.connections end, false, null),
           ('active_connections_count', case when server.sees_all then sessions.active end, false, null),
           ('idle_connections_count',   case when server.sees_all then sessions.idle end, false, null),
           ('idle_in_transaction_connections_count',
                                        case when server.sees_all then sessions.idle_in_transaction end, false, null),
           ('lock_waiters_count',       case when server.sees_all then sessions.waiters end, false, null),
           ('autovacuum_workers_count', case when server.sees_all then sessions.workers end, false, null),
           ('longest_transaction_seconds', case when server.sees_all then sessions.transaction_age end, false, null),
           ('longest_query_seconds',    case when server.sees_all then sessions.query_age end, false, null),
           ('transaction_id_age_count', (select max(age(datfrozenxid)) from pg_database where datconnlimit <> -2), false, null),
           ('replication_lag_seconds',
             ${hasWal ? lagOfStandby : 'null'}, false, null)`;

// One row per figure; a counter has in `since` what changes when it is reset. Without pg_read_all_stats the server hides
// the state of other roles' sessions: those figures are null then.
// From 17 on checkpoints have their own view. The positions of WAL are asked for only where a standby is connected:
// some services do not support those functions. Aurora has no statistics of WAL and of its receiver: it would refuse the
// whole statement, and fill its log.
const serverFigures = (version: number, hasWal: boolean) => `
  with ${LOCK_WAITS}, server as materialized (
    select pg_is_in_recovery() as standby,
           pg_has_role('pg_read_all_stats', 'usage') as sees_all,
           extract(epoch from pg_postmaster_start_time()) as started
  ), databases as materialized (
    select sum(xact_commit + xact_rollback) as transactions, sum(xact_rollback) as rollbacks,
           sum(blks_hit) as block_hits, sum(blks_read) as block_reads,
           sum(tup_returned) as rows_read, sum(tup_inserted + tup_updated + tup_deleted) as rows_written,
           sum(temp_bytes) as temporary_bytes, sum(deadlocks) as deadlocks, sum(sessions) as sessions,
           sum(sessions_abandoned + sessions_fatal + sessions_killed) as lost_sessions,
           count(*) as databases, extract(epoch from ${resetAt('max(stats_reset)')}) as reset
      from pg_stat_database
     where datid <> 0
  ), sessions as materialized (
    select count(*) filter (where client) as connections,
           count(*) filter (where client and state in ('active', 'fastpath function call')) as active,
           count(*) filter (where client and state = 'idle') as idle,
           count(*) filter (where client and state like 'idle in transaction%') as idle_in_transaction,
           count(*) filter (where wait_event_type = 'Lock') as waiters,
           count(*) filter (where backend_type = 'autovacuum worker') as workers,
           coalesce(max(transaction_age) filter (where client), 0) as transaction_age,
           coalesce(max(query_age) filter (where client and state = 'active'), 0) as query_age
      from (select s.*, backend_type = 'client backend' as client,
                   ${ownTime('xact_start')} as transaction_age, ${ownTime('query_start')} as query_age
              from pg_stat_activity s
             where pid <> pg_backend_pid()) activity
  ), wal as materialized (
    ${hasWal ? 'select wal_bytes, extract(epoch from stats_reset) as reset from pg_stat_wal' : 'select null::numeric as wal_bytes, null::numeric as reset'}
  ), checkpoints as materialized (
    select ${version < 170_000 ? 'checkpoints_timed' : 'num_timed'} as timed,
           ${version < 170_000 ? 'checkpoints_req' : 'num_requested'} as requested,
           extract(epoch from stats_reset) as reset
      from ${version < 170_000 ? 'pg_stat_bgwriter' : 'pg_stat_checkpointer'}
  )
  select figure.name, null as object, figure.value::float8,
         case when figure.counts then concat_ws('/', figure.reset, server.started, server.standby) end as since
    from server, databases, sessions, wal, checkpoints,
         lateral (values
${figures(hasWal)}
         ) figure (name, value, counts, reset)
  union all
  (select 'replication_lag_bytes', replica.name,
          max(pg_wal_lsn_diff(case when server.standby then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                                   else pg_current_wal_lsn() end, replayed))::float8 as lag, null
     from server,
          (select quote_ident(application_name) || coalesce('/' || host(client_addr), '') as name,
                  coalesce(replay_lsn, flush_lsn, write_lsn, sent_lsn) as replayed
             from pg_stat_replication r
            where state in ('streaming', 'catchup') and ${isNoBackup('r')}) replica
    where replayed is not null
    group by replica.name
    order by lag desc
    limit 10)`;

const COUNTERS = new Set([
  'transactions',
  'rollbacks',
  'block_hits',
  'block_reads',
  'rows_read',
  'rows_written',
  'temporary_bytes',
  'deadlocks',
  'sessions',
  'lost_sessions',
  'databases',
  'wal_bytes',
  'checkpoints_timed',
  'checkpoints_requested',
]);

const isCounter = (name: unknown) => typeof name === 'string' && COUNTERS.has(name);

const server: VitalReading = {
  id: 'VITALS',
  scope: 'server',
  what: 'counters and sessions of the server',
  privilege: () => 'pg_monitor',
  isHidden: (rows) => rows.some(({ name, value }) => name === 'connections_count' && value === null),
  sql: (version, provider) => [serverFigures(version, provider !== 'aurora')],
  kept: (rows) =>
    rows.filter(({ name }) => isCounter(name)).map(({ name, value, since }) => ({ name, value, since })),
  values: (rows, { before }) => {
    const gauges = gaugesIn(rows.filter(({ name }) => !isCounter(name)));
    const ofServer = toRates(OF_SERVER, rows, before);
    // With a database, its share of the sums goes away.
    const dropped = count(rows) < count(before?.rows ?? []);
    return [...gauges, ...ofServer, ...(dropped ? [] : toRates(OF_DATABASES, rows, before))];
  },
};

function count(rows: readonly { [name: string]: unknown }[]): number {
  return Number(rows.find(({ name }) => name === 'databases')?.['value'] ?? 0);
}

// The size of a database is the sum of its files. Those that are read most come first, because each costs a look at all
// of its files.
const databaseSizes = `
  select 'database_bytes' as name, datname::text as database, pg_database_size(oid)::float8 as value
    from (select d.oid, d.datname
            from pg_database d
            left join pg_stat_database s on s.datid = d.oid
           where d.datallowconn and not d.datistemplate and d.datconnlimit <> -2
             and (has_database_privilege(d.oid, 'connect') or pg_has_role('pg_read_all_stats', 'usage'))
           order by s.blks_hit + s.blks_read desc nulls last, d.oid
           limit 50) most_read`;

const sizes: VitalReading = {
  id: 'VITALS_DATABASES',
  scope: 'server',
  what: 'sizes of databases',
  hourly: true,
  sql: () => [databaseSizes],
  kept: (rows) => [...rows],
  values: gaugesIn,
};

// relpages is the size as of the last VACUUM or ANALYZE; pg_relation_size would wait behind ACCESS EXCLUSIVE.
const relationSizes = `
  (select 'table_bytes' as name, format('%I.%I', n.nspname, c.relname) as object,
          (c.relpages + coalesce(t.relpages, 0))::float8 * current_setting('block_size')::float8 as value
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     left join pg_class t on t.oid = c.reltoastrelid
    where c.relkind in ('r', 'm') and c.relpersistence <> 't'
      and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and c.relpages + coalesce(t.relpages, 0) > 0
    order by value desc, object
    limit 10)
  union all
  (select 'index_bytes', format('%I.%I', n.nspname, c.relname),
          c.relpages::float8 * current_setting('block_size')::float8 as value
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'i' and c.relpersistence <> 't'
      and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and c.relpages > 0
    order by value desc, 2
    limit 10)`;

const relations: VitalReading = {
  id: 'VITALS_RELATIONS',
  scope: 'database',
  what: 'sizes of tables and indexes',
  hourly: true,
  sql: () => [relationSizes],
  kept: (rows) => [...rows],
  values: gaugesIn,
};

/** How the vitals of PostgreSQL are read: one statement a run, and once an hour the sizes. */
export const postgresReadings: readonly VitalReading[] = [server, sizes, relations];
