import { expect } from 'vitest';
import type { MysqlServer } from '../mysql-server.ts';
import { ON_MYSQL } from '../tested-server.ts';
import type { Judged } from './judged.ts';

/** A fault, and what its remediation must do. */
export interface PastedCase {
  check: string;
  /** What sets it apart from other cases of the check. */
  name?: string;
  /** Whether the tested server can have it; by default every one can. */
  on?: boolean;
  judged?: Judged;
  provoke?: (server: MysqlServer) => Promise<unknown>;
  /** It is a sentence, not a statement. */
  sentence?: boolean;
  /** Pasting it ends the fault. Otherwise it is a look or a sentence, which changes nothing. */
  fixed?: true;
  /** The setting that it changes for good. */
  setting?: string;
  after?: (server: MysqlServer) => Promise<unknown>;
}

const MARIADB = !ON_MYSQL;
/** MariaDB 11.8 turns the doublewrite on while it runs; 10.11 and MySQL only at the start. */
const NEW_MARIADB = process.env['TEST_MYSQL_SERVER'] === 'mariadb-11.8';

/** A setting with a value that a running server takes, and the check that finds it wrong. */
function setting(check: string, name: string, wrong: string, on = true): PastedCase {
  return {
    check,
    setting: name,
    fixed: true,
    on,
    name: `${name} = ${wrong}`,
    provoke: (server) => server.run(`set global ${name} = ${wrong}`),
  };
}

/** Counters that rose in five minutes. */
const risen = (by: Record<string, number>, settings: Judged['figures'] = {}): Judged => ({
  before: { ...Object.fromEntries(Object.keys(by).map((name) => [name, 0])), ...settings },
  figures: { ...by, ...settings },
});

const settings: PastedCase[] = [
  setting('MY_FLUSH_NOT_1', 'innodb_flush_log_at_trx_commit', '2'),
  setting('MY_SYNC_BINLOG', 'sync_binlog', '0'),
  setting('MY_BINLOG_NO_EXPIRY', 'binlog_expire_logs_seconds', '0'),
  setting('MY_BINLOG_NO_EXPIRY', 'binlog_expire_logs_auto_purge', 'OFF', ON_MYSQL),
  setting('MY_LOCAL_INFILE', 'local_infile', 'ON'),
  setting('MY_SQL_MODE_LAX', 'sql_mode', `'NO_ENGINE_SUBSTITUTION'`),
  setting('MY_SKIP_ERRORS', 'replica_exec_mode', `'IDEMPOTENT'`, ON_MYSQL),
  setting('MY_SKIP_ERRORS', 'slave_exec_mode', `'IDEMPOTENT'`, MARIADB),
  setting('MY_DOUBLEWRITE_OFF', 'innodb_doublewrite', `'DETECT_ONLY'`, ON_MYSQL),
  setting('MY_DOUBLEWRITE_OFF', 'innodb_doublewrite', 'OFF', NEW_MARIADB),
  {
    check: 'MY_DOUBLEWRITE_OFF',
    name: 'at start',
    sentence: true,
    judged: { figures: { innodb_doublewrite: 'OFF' } },
    on: !NEW_MARIADB,
  },
  {
    check: 'MY_TLS_NOT_REQUIRED',
    setting: 'require_secure_transport',
    judged: { figures: { bind_address: '*', skip_networking: 'OFF' } },
    after: async (server) => {
      expect(await server.run('select @@global.require_secure_transport as required')).toEqual([
        { required: 1 },
      ]);
      await server.run('set global require_secure_transport = off');
    },
  },
  {
    check: 'MY_VERSION_EOL',
    sentence: true,
    judged: { version: ON_MYSQL ? 50_744 : 100_529, figures: { version: 'an old one' } },
  },
  { check: 'MY_BINLOG_OFF', sentence: true, judged: { figures: { log_bin: 'OFF' } } },
  { check: 'MY_FORCE_RECOVERY', sentence: true, judged: { figures: { innodb_force_recovery: 1 } } },
  {
    check: 'MY_SKIP_ERRORS',
    name: 'list',
    judged: { figures: { slave_skip_errors: '1062' } },
    on: MARIADB,
  },
  {
    check: 'MY_REDO_DISABLED',
    on: ON_MYSQL,
    fixed: true,
    provoke: (server) => server.run('alter instance disable innodb redo_log'),
  },
];

const load: PastedCase[] = [
  {
    check: 'MY_CONN_SATURATION',
    judged: { figures: { Threads_connected: 19 } },
    setting: 'max_connections',
    after: async (server) => {
      const [row] = await server.run('select @@global.max_connections as most');
      expect(row?.['most']).toBe(40);
    },
  },
  {
    check: 'MY_CONN_SATURATION',
    name: 'peak',
    judged: { figures: { Max_used_connections: 39, Max_used_connections_time: '2999-01-01 00:00:00' } },
    after: (server) => server.run('set global max_connections = 40'),
  },
  { check: 'MY_THREADS_RUNNING', judged: { figures: { Threads_running: 35 } } },
  { check: 'MY_ABORTED_CONNECTS', judged: risen({ Aborted_connects: 50, Connections: 100 }) },
  {
    check: 'MY_ABORTED_CONNECTS',
    name: 'without name resolution',
    judged: risen({ Aborted_connects: 50, Connections: 100 }, { skip_name_resolve: 'ON' }),
  },
  {
    check: 'MY_BP_MISS',
    judged: risen({ Innodb_buffer_pool_read_requests: 1_000_000, Innodb_buffer_pool_reads: 100_000 }),
  },
  {
    check: 'MY_BP_WAIT_FREE',
    setting: 'innodb_io_capacity',
    judged: risen(
      { Innodb_buffer_pool_wait_free: 9 },
      { innodb_io_capacity: 200, innodb_io_capacity_max: 2_000 },
    ),
  },
  { check: 'MY_LOG_WAITS', sentence: MARIADB, judged: risen({ Innodb_log_waits: 9_000 }) },
  {
    check: 'MY_TMP_DISK',
    setting: 'tmp_table_size',
    judged: risen({ Created_tmp_disk_tables: 9_000, Created_tmp_tables: 10_000 }),
  },
  { check: 'MY_JOINS_NO_INDEX', judged: risen({ Select_full_join: 9_000 }) },
  {
    check: 'MY_SLOW_QUERIES',
    name: 'log off',
    setting: 'slow_query_log',
    judged: risen({ Slow_queries: 500, Questions: 1_000 }, { slow_query_log: 'OFF' }),
  },
  ...[{}, { performance_schema: 'OFF' }, { performance_schema: 'OFF', log_output: 'TABLE' }].map(
    (given): PastedCase => ({
      check: 'MY_SLOW_QUERIES',
      name: `log on ${Object.values(given).join(' ')}`,
      judged: risen({ Slow_queries: 500, Questions: 1_000 }, { slow_query_log: 'ON', ...given }),
    }),
  ),
  {
    check: 'MY_TABLE_CACHE',
    setting: 'table_open_cache',
    judged: risen({
      Table_open_cache_hits: 10,
      Table_open_cache_misses: 90_000,
      Table_open_cache_overflows: 9,
    }),
  },
  {
    check: 'MY_TABLE_DEFINITION_CACHE',
    setting: 'table_definition_cache',
    judged: risen(
      { Opened_table_definitions: 90_000, Com_create_table: 0, Com_create_temporary_table: 0 },
      { Open_table_definitions: 9_000, table_definition_cache: 9_000 },
    ),
  },
  { check: 'MY_MEMORY_OVERCOMMIT', judged: { thresholds: { memory_gb: 0.01 } } },
  {
    check: 'MY_NAME_RESOLUTION',
    judged: { figures: { skip_name_resolve: 'OFF', skip_networking: 'OFF' }, thresholds: { info: 0 } },
  },
  {
    check: 'MY_OPEN_FILES',
    setting: 'table_open_cache',
    judged: { figures: { Open_files: 990, open_files_limit: 1_000 } },
  },
  {
    check: 'MY_REDO_TOO_SMALL',
    on: ON_MYSQL,
    setting: 'innodb_redo_log_capacity',
    judged: risen({ Innodb_redo_log_current_lsn: 300_000_000 }, { Innodb_redo_log_checkpoint_lsn: 1 }),
  },
  {
    check: 'MY_REDO_TOO_SMALL',
    on: MARIADB,
    setting: 'innodb_log_file_size',
    judged: risen({ Innodb_lsn_current: 300_000_000 }),
  },
  { check: 'MY_HISTORY_LIST', judged: { thresholds: { warning: -1 } } },
];

const cluster: PastedCase[] = [
  ...[
    { wsrep_local_state: 2, wsrep_local_state_comment: 'Donor' },
    { wsrep_ready: 'OFF' },
    { wsrep_cluster_status: 'non-Primary' },
  ].map(
    (given): PastedCase => ({
      check: 'MY_GALERA_UNSYNCED',
      name: Object.keys(given)[0] ?? '',
      on: MARIADB,
      judged: {
        figures: {
          wsrep_provider: 'galera',
          wsrep_on: 'ON',
          wsrep_connected: 'ON',
          wsrep_ready: 'ON',
          wsrep_desync: 'OFF',
          wsrep_cluster_status: 'Primary',
          wsrep_local_state: 4,
          wsrep_local_state_comment: 'Synced',
          ...given,
        },
      },
    }),
  ),
];

/** Cases of every check of the server, without those of hostile names. */
export const cases: readonly PastedCase[] = [...settings, ...load, ...cluster];

/** Checks whose remediation another file pastes, and that file. */
export const elsewhere: Readonly<Record<string, string>> = {
  MY_EMPTY_PASSWORD: 'pasted/hostile-names.test.ts',
  MY_ROOT_REMOTE: 'pasted/hostile-names.test.ts',
  MY_AUTH_LEGACY: 'provocations-settings.ts',
  MY_REPLICA_STOPPED: 'pasted/hostile-names.test.ts',
  MY_REPLICA_LAG: 'pasted/hostile-names.test.ts',
  MY_REPLICA_WRITABLE: 'replication.test.ts',
  MY_LONG_TRX: 'pasted/hostile-names.test.ts',
  MY_LOCK_WAITS: 'provocations-load.ts',
  MY_MDL_WAIT: 'provocations-load.ts',
  MY_GROUP_MEMBER_DOWN: 'group-replication.test.ts',
};
