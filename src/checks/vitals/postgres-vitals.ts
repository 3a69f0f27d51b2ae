import type { Vital } from './vital.ts';

/** The vitals of PostgreSQL, in the order of the reference. */
export const postgresVitals: readonly Vital[] = [
  {
    metric: 'transactions_per_second',
    title: 'Transactions',
    meaning: 'Transactions committed and rolled back, in all databases.',
  },
  {
    metric: 'rollbacks_per_second',
    title: 'Rollbacks',
    meaning: 'Transactions rolled back, in all databases.',
  },
  {
    metric: 'connections_count',
    title: 'Connections',
    meaning: 'Sessions of clients, without the one of dbvitals.',
  },
  {
    metric: 'opened_connections_per_second',
    title: 'Connections opened',
    meaning: 'Sessions that began since the last run, also those that ended between two runs.',
  },
  {
    metric: 'lost_connections_per_second',
    title: 'Connections lost',
    meaning: 'Sessions that ended because the client was gone, by a fatal error, or by an operator.',
  },
  {
    metric: 'active_connections_count',
    title: 'Active connections',
    meaning: 'Sessions of clients that run a statement.',
  },
  {
    metric: 'idle_connections_count',
    title: 'Idle connections',
    meaning: 'Sessions of clients that wait for the next transaction.',
  },
  {
    metric: 'idle_in_transaction_connections_count',
    title: 'Connections idle in a transaction',
    meaning: 'Sessions of clients that hold a transaction open and run nothing.',
  },
  {
    metric: 'lock_waiters_count',
    title: 'Waiting for a lock',
    meaning: 'Sessions that wait for a lock of another one.',
  },
  {
    metric: 'longest_transaction_seconds',
    title: 'Longest transaction',
    meaning:
      'How long the oldest transaction of a client has been open, without a lock that it waits for; 0 if there is none.',
  },
  {
    metric: 'longest_query_seconds',
    title: 'Longest query',
    meaning:
      'How long the oldest statement of a client has been running, without a lock that it waits for; 0 if there is none.',
  },
  {
    metric: 'cache_hit_ratio',
    title: 'Cache hit ratio',
    meaning: 'Share of block reads served from shared_buffers since the last run.',
  },
  {
    metric: 'rows_read_per_second',
    title: 'Rows read',
    meaning: 'Rows that sequential scans read, and index entries that index scans returned (tup_returned).',
  },
  {
    metric: 'rows_written_per_second',
    title: 'Rows written',
    meaning: 'Rows inserted, updated and deleted.',
  },
  {
    metric: 'temporary_bytes_per_second',
    title: 'Temporary files',
    meaning: 'Bytes that sorts and hashes wrote to temporary files.',
  },
  {
    metric: 'deadlocks_per_second',
    title: 'Deadlocks',
    meaning: 'Deadlocks, in all databases.',
  },
  {
    metric: 'wal_bytes_per_second',
    title: 'WAL',
    meaning: 'Bytes of WAL that the server wrote. A standby writes none and has no such vital.',
  },
  {
    metric: 'checkpoints_per_second',
    title: 'Checkpoints',
    meaning:
      'Checkpoints begun, by time and requested. A standby has its restartpoints under the same counters.',
  },
  {
    metric: 'requested_checkpoints_per_second',
    title: 'Requested checkpoints',
    meaning: 'Checkpoints that came early, mostly because the WAL reached max_wal_size.',
  },
  {
    metric: 'autovacuum_workers_count',
    title: 'Autovacuum workers',
    meaning: 'Autovacuum workers that run now.',
  },
  {
    metric: 'transaction_id_age_count',
    title: 'Age of the oldest transaction id',
    meaning:
      'Transactions since the oldest one that is not frozen, in the oldest database. PostgreSQL stops at 2 billion.',
  },
  {
    metric: 'replication_lag_bytes',
    title: 'Replication lag of standbys',
    meaning:
      'Of each standby that is connected to this server: WAL that it has not replayed yet. The ten furthest behind.',
    most: 10,
  },
  {
    metric: 'replication_lag_seconds',
    title: 'Replication lag',
    meaning:
      'If this server is a standby: the age of the last transaction that it replayed; 0 if it has replayed all that it received.',
  },
  {
    metric: 'database_bytes',
    title: 'Database size',
    meaning:
      'Of each database that the login may connect to. The 50 with the most blocks read, once an hour.',
    most: 50,
    grows: true,
  },
  {
    metric: 'table_bytes',
    title: 'Table size',
    meaning:
      'Of the ten largest tables with their TOAST data, as of their last VACUUM or ANALYZE. Once an hour.',
    most: 10,
    grows: true,
  },
  {
    metric: 'index_bytes',
    title: 'Index size',
    meaning: 'Of the ten largest indexes, as of the last VACUUM or ANALYZE of their table. Once an hour.',
    most: 10,
    grows: true,
  },
];
