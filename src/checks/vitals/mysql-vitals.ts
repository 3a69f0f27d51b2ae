import type { Vital } from './vital.ts';

/** The vitals of MySQL and MariaDB, in the order of the reference. */
export const mysqlVitals: readonly Vital[] = [
  {
    metric: 'queries_per_second',
    title: 'Queries',
    meaning: 'Statements that clients sent (Questions).',
  },
  {
    metric: 'connections_count',
    title: 'Connections',
    meaning: 'Connected clients, the one of dbvitals included (Threads_connected).',
  },
  {
    metric: 'active_connections_count',
    title: 'Active connections',
    meaning: 'Threads that run a statement, the one of dbvitals included (Threads_running).',
  },
  {
    metric: 'cache_hit_ratio',
    title: 'Cache hit ratio',
    meaning: 'Share of page reads that the InnoDB buffer pool served since the last run.',
  },
  {
    metric: 'rows_read_per_second',
    title: 'Rows read',
    meaning: 'Rows read from InnoDB tables; in MariaDB from tables of every engine.',
  },
  {
    metric: 'rows_written_per_second',
    title: 'Rows written',
    meaning: 'Rows inserted, updated and deleted in InnoDB tables; in MariaDB in tables of every engine.',
  },
  {
    metric: 'temporary_disk_tables_per_second',
    title: 'Temporary tables on disk',
    meaning: 'Internal temporary tables that did not fit in memory (Created_tmp_disk_tables).',
  },
  {
    metric: 'slow_queries_per_second',
    title: 'Slow queries',
    meaning: 'Statements that took longer than long_query_time (Slow_queries).',
  },
  {
    metric: 'redo_bytes_per_second',
    title: 'Redo log',
    meaning: 'Bytes that InnoDB wrote to its redo log (Innodb_os_log_written).',
  },
  {
    metric: 'deadlocks_per_second',
    title: 'Deadlocks',
    meaning: 'Deadlocks of InnoDB. MariaDB only: MySQL has no such status variable.',
  },
  {
    metric: 'row_lock_waits_per_second',
    title: 'Row lock waits',
    meaning: 'How often a statement had to wait for a row lock (Innodb_row_lock_waits).',
  },
  {
    metric: 'lock_waiters_count',
    title: 'Waiting for a lock',
    meaning: 'Row locks that are waited for now (Innodb_row_lock_current_waits).',
  },
  {
    metric: 'history_list_count',
    title: 'History list length',
    meaning: 'Transactions whose old rows InnoDB has not purged yet.',
  },
  {
    metric: 'replication_lag_seconds',
    title: 'Replication lag',
    meaning: 'If this server is a replica: how far it is behind each source. The ten furthest behind.',
    most: 10,
  },
  {
    metric: 'database_bytes',
    title: 'Database size',
    meaning: 'Data and indexes of each schema, as InnoDB estimates them. The 50 largest, once an hour.',
    most: 50,
    grows: true,
  },
  {
    metric: 'table_bytes',
    title: 'Table size',
    meaning: 'Data of the ten largest tables, as InnoDB estimates it. Once an hour.',
    most: 10,
    grows: true,
  },
  {
    metric: 'index_bytes',
    title: 'Index size',
    meaning: 'Secondary indexes of the ten largest tables, as InnoDB estimates them. Once an hour.',
    most: 10,
    grows: true,
  },
];
