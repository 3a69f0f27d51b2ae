/** A service of a peer, and our checks for the same kind of defect. */
export interface Service {
  name: string;
  args: string[];
  /** The ids of our checks for this kind; empty when we have none (docs/decisions/0015 gives the reasons). */
  ours: string[];
  /** Captures the objects in the output with its first group. Without it, only the kind is compared. */
  objects?: RegExp;
  /** Why its alarm on this server is not a defect that we miss. */
  argued?: string;
}

const limits = (warning: string, critical: string) => ['-w', warning, '-c', critical];
const at = (name: string, args: string[], ours: string[], objects?: RegExp): Service => ({
  name,
  args,
  ours,
  ...(objects && { objects }),
});

// Thresholds as close to ours as the peer's options allow.
const SOON = limits('1s', '1h');
const SOON_S = limits('1', '3600');
const LARGE = limits('10MB', '1GB');

/** The services of check_pgactivity for a primary. */
export const pgactivity: Service[] = [
  at('archiver', [], ['PG_ARCHIVER_FAILING']),
  at('autovacuum', [], []),
  at('backends', limits('80%', '95%'), ['PG_CONN_SATURATION']),
  at('backends_status', limits('waiting=1', 'waiting=50'), ['PG_BLOCKED_SESSIONS']),
  at('bgwriter', limits('50%', '90%'), []),
  at('btree_bloat', LARGE, ['PG_INDEX_BLOAT_EST'], /: shop\.(.+?) [\d.]+[kMG]?B\//g),
  at('checksum_errors', [], ['PG_CHECKSUM_FAILURES'], /(\w+): \d+ error/g),
  at('commit_ratio', limits('rollbacks=10', 'rollbacks=1000000'), ['PG_ROLLBACK_RATIO']),
  at(
    'configuration',
    [],
    ['PG_AUTOVACUUM_OFF', 'PG_FSYNC_OFF', 'PG_PLANNER_OFF', 'PG_SHARED_BUFFERS_LOW'],
    /: (\w+)=\S+$/gm,
  ),
  at('connection', [], ['CONN_UNREACHABLE', 'CONN_AUTH_FAILED']),
  at('extensions_versions', [], ['PG_EXTENSION_OUTDATED'], /shop\.(\S+): \S+ \(should/g),
  at('hit_ratio', limits('95%', '1%'), ['PG_CACHE_HIT_LOW'], /(\w+): [\d.]+%/g),
  at('invalid_indexes', [], ['PG_INVALID_INDEX'], /= shop\.(.+?) ;/g),
  { name: 'is_hot_standby', args: [], ours: [], argued: 'the server is meant to be a primary' },
  at('is_master', [], []),
  at('is_replay_paused', SOON, ['PG_REPLAY_PAUSED']),
  at('last_analyze', limits('1d', '7d'), ['PG_STALE_STATS']),
  at('last_vacuum', limits('1d', '7d'), ['PG_DEAD_TUPLES', 'PG_TABLE_AUTOVACUUM_OFF']),
  at('locks', limits('80%', '95%'), []),
  at('longest_query', SOON, ['PG_LONG_QUERY', 'PG_BLOCKED_SESSIONS']),
  at(
    'max_freeze_age',
    limits('1000000000', '1700000000'),
    ['PG_XID_WRAPAROUND'],
    /oldest database is (\w+)/g,
  ),
  at('oldest_2pc', SOON, ['PG_PREPARED_XACT_OLD']),
  at('oldest_idlexact', SOON, ['PG_IDLE_IN_TXN']),
  at('oldest_xmin', limits('1', '100000000'), ['PG_XMIN_HELD']),
  at('replication_slots', limits('wal=0', 'wal=1000'), ['PG_SLOT_INACTIVE', 'PG_SLOT_WAL_LEFT']),
  at('sequences_exhausted', limits('85%', '95%'), ['PG_SEQUENCE_EXHAUSTION'], /: shop\.(\S+)\(owned/g),
  at('session_stats', [], []),
  {
    name: 'settings',
    args: [],
    ours: [],
    argued: 'that a setting was changed is no defect; what is wrong about it is',
  },
  at('stat_snapshot_age', limits('1h', '2h'), []),
  at('streaming_delta', limits('1MB', '1GB'), ['PG_REPLICATION_LAG', 'PG_REPLICA_MISSING']),
  at('table_bloat', LARGE, ['PG_TABLE_BLOAT_EST'], /: shop\.(.+?) [\d.]+[kMG]?B\//g),
  at('table_unlogged', [], ['PG_UNLOGGED_TABLE'], /shop\.(.+?) \(unlogged\)/g),
  at('temp_files', limits('1kB', '1GB'), ['PG_TEMP_FILES']),
  at('uptime', limits('0', '0'), []),
  at('wal_files', limits('80%', '95%'), ['PG_SLOT_INACTIVE', 'PG_SLOT_WAL_LEFT']), // the slot keeps them
];

/** Services of check_pgactivity that are not run here, with the reason. */
export const pgactivityLeftOut: Record<string, string> = {
  archive_folder: 'it reads the folder of a WAL archive',
  backup_label_age: 'it is about an exclusive backup under way',
  custom_query: 'it runs what it is given',
  database_size: 'it compares with the size of an earlier day',
  hot_standby_delta: 'it asks standbys, too',
  minor_version: 'it asks www.postgresql.org',
  pg_dump_backup: 'it reads a folder of dumps',
  pga_version: 'it is about itself',
  pgdata_permission: 'it reads the data folder',
};

/** The actions of check_postgres for a primary. */
export const postgres: Service[] = [
  at('archive_ready', SOON_S, ['PG_ARCHIVER_FAILING']),
  at('autovac_freeze', limits('101%', '500%'), ['PG_XID_WRAPAROUND'], /(\w+)=\d{3,}%/g),
  at('backends', limits('80%', '95%'), ['PG_CONN_SATURATION']),
  at(
    'bloat',
    LARGE,
    ['PG_TABLE_BLOAT_EST', 'PG_INDEX_BLOAT_EST', 'PG_UNUSED_INDEX'], // an index is under one check
    /(?:table|index) (.+?) rows:\S+ pages:\d+ shouldbe:\d+ \([\d.]+X\) wasted \w+:\d{8,}/g,
  ),
  at('commitratio', limits('90%', '1%'), ['PG_ROLLBACK_RATIO']),
  at('connection', [], ['CONN_UNREACHABLE', 'CONN_AUTH_FAILED']),
  at('database_size', limits('1TB', '2TB'), []),
  at('disabled_triggers', [], ['PG_DISABLED_TRIGGER'], /=>(\S+)/g),
  {
    name: 'hitratio',
    args: limits('95%', '1%'),
    ours: ['PG_CACHE_HIT_LOW'],
    argued: 'it judges all reads since the statistics began, of databases with hardly any',
  },
  at('index_size', limits('1TB', '2TB'), []),
  at('indexes_size', limits('1TB', '2TB'), []),
  at('last_analyze', limits('1d', '7d'), ['PG_STALE_STATS']),
  at('last_autoanalyze', limits('1d', '7d'), ['PG_STALE_STATS']),
  at('last_autovacuum', limits('1d', '7d'), ['PG_AUTOVACUUM_OFF']),
  at('last_vacuum', limits('1d', '7d'), ['PG_DEAD_TUPLES', 'PG_TABLE_AUTOVACUUM_OFF']),
  at('locks', limits('100', 'total=1000:waiting=1'), ['PG_BLOCKED_SESSIONS']),
  at('prepared_txns', SOON_S, ['PG_PREPARED_XACT_OLD']),
  at('query_time', SOON_S, ['PG_LONG_QUERY', 'PG_BLOCKED_SESSIONS']),
  at('relation_size', limits('1TB', '2TB'), []),
  at(
    'replication_slots',
    limits('1', '1TB'),
    ['PG_SLOT_INACTIVE', 'PG_SLOT_WAL_LEFT'],
    /(\w+): \d+ \w+ \(physical/g,
  ),
  at('sequence', limits('85%', '95%'), ['PG_SEQUENCE_EXHAUSTION'], /(\S+)=\d+% \(calls/g),
  at('table_size', limits('1TB', '2TB'), []),
  at('timesync', limits('2', '5'), []),
  at('total_relation_size', limits('1TB', '2TB'), []),
  at('txn_idle', SOON_S, ['PG_IDLE_IN_TXN']),
  at('txn_time', SOON_S, ['PG_LONG_XACT']),
  at('txn_wraparound', limits('1000000000', '1700000000'), ['PG_XID_WRAPAROUND'], /\) (\w+): \d{10}/g),
  at('version', ['-w', '14.24'], ['PG_MINOR_OUTDATED', 'PG_VERSION_EOL']),
  at('wal_files', limits('1000', '2000'), []),
];

/** Actions of check_postgres that are not run here, with the reason. A first word covers all names that begin with it. */
export const postgresLeftOut: Record<string, string> = {
  checkpoint: 'it reads the data folder',
  cluster_id: 'it compares with a number that it is given',
  custom_query: 'it runs what it is given',
  dbstats: 'it prints numbers and judges none',
  disk_space: 'it reads the disks of the machine',
  fsm_pages: 'it is for PostgreSQL before 8.4',
  fsm_relations: 'it is for PostgreSQL before 8.4',
  hot_standby_delay: 'it asks a standby, too',
  listener: 'it waits for a NOTIFY of the application',
  logfile: 'it reads the log',
  new_version: 'it asks the web',
  pgagent: 'it is for pgAgent',
  pgb: 'it is for PgBouncer',
  pgbouncer: 'it is for PgBouncer',
  query_runtime: 'it runs what it is given',
  replicate_row: 'it writes',
  same_schema: 'it compares two databases',
  settings_checksum: 'it compares with a checksum that it is given',
  slony_status: 'it is for Slony',
};
