import type { Row } from '../fault.ts';
import { exactName } from '../mysql/exact-name.ts';
import { Figures, figures } from '../mysql/figures.ts';
import { schemaOfFile } from '../mysql/file-names.ts';
import { isMariaDb } from '../mysql/flavour.ts';
import { historyList } from '../mysql/history-list.ts';
import { quoted } from '../mysql/quote.ts';
import { replicaPrivilege, replicaSql, replicationsIn } from '../mysql/replica-status.ts';
import { PROCESS } from '../mysql/session-check.ts';
import { sizesOfFiles, UNREAD } from '../mysql/suspects.ts';
import { ofCustomers } from '../mysql/table-condition.ts';
import { type Formulas, firstKnown, gaugesIn, growthOf, perSecond, toRates } from './growth.ts';
import type { VitalFacts, VitalReading, VitalValue } from './vital.ts';

/** Uptime is in whole seconds, and read a moment before or after the clock. */
const SECONDS_OFF = 3;

/** Status variable → vital. */
const GAUGES: Readonly<Record<string, string>> = {
  Threads_connected: 'connections_count',
  Threads_running: 'active_connections_count',
  Innodb_row_lock_current_waits: 'lock_waiters_count',
  Innodb_history_list_length: 'history_list_count',
};

// MariaDB counts no rows of InnoDB, but those of temporary tables apart; MySQL does it the other way round.
const HANDLER_READS = ['first', 'key', 'last', 'next', 'prev', 'rnd', 'rnd_next'].map(
  (how) => `Handler_read_${how}`,
);
const HANDLER_WRITES = ['Handler_write', 'Handler_update', 'Handler_delete'];

const RATES: Formulas = {
  queries_per_second: perSecond('Questions'),
  cache_hit_ratio: (grown) => {
    const [requests, reads] = [grown('Innodb_buffer_pool_read_requests'), grown('Innodb_buffer_pool_reads')];
    return requests === null || reads === null || requests === 0 ? null : Math.max(0, 1 - reads / requests);
  },
  rows_read_per_second: firstKnown(perSecond('Innodb_rows_read'), perSecond(...HANDLER_READS)),
  rows_written_per_second: firstKnown(
    perSecond('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted'),
    perSecond(...HANDLER_WRITES),
  ),
  temporary_disk_tables_per_second: perSecond('Created_tmp_disk_tables'),
  slow_queries_per_second: perSecond('Slow_queries'),
  redo_bytes_per_second: perSecond('Innodb_os_log_written'),
  deadlocks_per_second: perSecond('Innodb_deadlocks'),
  row_lock_waits_per_second: perSecond('Innodb_row_lock_waits'),
};

const COUNTERS = [
  'Questions',
  'Innodb_buffer_pool_read_requests',
  'Innodb_buffer_pool_reads',
  'Innodb_rows_read',
  'Innodb_rows_inserted',
  'Innodb_rows_updated',
  'Innodb_rows_deleted',
  'Created_tmp_disk_tables',
  'Slow_queries',
  'Innodb_os_log_written',
  'Innodb_deadlocks',
  'Innodb_row_lock_waits',
  ...HANDLER_READS,
  ...HANDLER_WRITES,
];

const BEGINNINGS = ['Uptime', 'Uptime_since_flush_status'];

const status: VitalReading = {
  id: 'VITALS',
  scope: 'server',
  what: 'counters of the server',
  sql: () => figures({ status: [...Object.keys(GAUGES), ...COUNTERS, ...BEGINNINGS] }),
  kept: (rows) => numbersOf(rows, [...COUNTERS, ...BEGINNINGS]),
  values: (rows, { before }) => {
    const gauges = numbersOf(rows, Object.keys(GAUGES)).map(({ name, value }) => ({
      metric: GAUGES[name] ?? '',
      value,
    }));
    return [...gauges, ...ratesSince(numbersOf(rows, [...COUNTERS, ...BEGINNINGS]), before)];
  },
};

/** Status variables as rows for {@link growthOf}. Those that the server does not have, or that are no numbers, are left out. */
function numbersOf(rows: readonly Row[], names: readonly string[]): { name: string; value: number }[] {
  const found = new Figures(rows);
  return names
    .filter((name) => found.has(name) && Number.isFinite(Number(found.text(name))))
    .map((name) => ({ name, value: found.number(name) }));
}

/** None if the server restarted, or its counters were reset (FLUSH STATUS), since the last run. */
function ratesSince(rows: readonly Row[], before: VitalFacts['before']): VitalValue[] {
  if (before === undefined) return [];
  const grown = growthOf(rows, before.rows);
  const began = BEGINNINGS.map(grown);
  if (began.some((by) => by === null || Math.abs(by - before.seconds) > SECONDS_OFF)) return [];
  return toRates(RATES, rows, before);
}

// MariaDB has it among the status variables.
const history: VitalReading = {
  id: 'VITALS_HISTORY',
  scope: 'server',
  what: 'the length of the history list',
  privilege: PROCESS,
  sql: (version) => (isMariaDb(version) ? [] : [historyList.sql(version)].flat()),
  kept: () => [],
  values: (rows) =>
    rows.flatMap(({ length }) =>
      typeof length === 'number' ? [{ metric: 'history_list_count', value: length }] : [],
    ),
};

const replication: VitalReading = {
  id: 'VITALS_REPLICATION',
  scope: 'server',
  what: 'the lag of replication',
  privilege: replicaPrivilege,
  sql: replicaSql,
  kept: () => [],
  values: (rows, { version }) =>
    replicationsIn(rows, version).flatMap(({ object, behind }) =>
      behind === null ? [] : [{ metric: 'replication_lag_seconds', value: behind, object }],
    ),
};

// A server opens each table for its sizes, so of more tables it adds up their files.
const OPENED = 2_000;
const tableCount = `(select count(*) from information_schema.tables where ${ofCustomers()})`;

// Only a login that sees all tables gets sums that are right, as in table-check.ts. The count is a constant: over the limit
// the server does not open the tables.
const ofAll = `
   where ${ofCustomers()}
     and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
     and (select count(*)
            from information_schema.columns
           where table_schema = 'mysql' and table_name = 'proxies_priv') > 0
     and ${tableCount} <= ${OPENED}`;
const schemaSizes = `
  select table_schema as db, sum(data_length + index_length) + 0e0 as bytes
    from information_schema.tables${ofAll}
   group by table_schema
   order by bytes desc
   limit 50`;
const tableSizes = `
  select table_schema as db, table_name as name, data_length + 0e0 as data_bytes, index_length + 0e0 as index_bytes
    from information_schema.tables${ofAll}
   order by data_length + index_length desc
   limit 10`;

const sizes: VitalReading = {
  id: 'VITALS_DATABASES',
  scope: 'server',
  what: 'sizes of databases and tables',
  hourly: true,
  sql: () => [schemaSizes, tableSizes],
  kept: sizesIn,
  values: gaugesIn,
};

// MariaDB lists a file once it has read it, when its table is first used after a restart. The others are read here. Of too many,
// no size is given: the checks read some in each run, so there will be fewer.
const unreadFiles = `
         ((select count(*) from information_schema.innodb_sys_tables where space <> 0 and name like '%/%')
        - (select count(*) from information_schema.innodb_sys_tablespaces where name like '%/%'))`;

// This view reads the file of each table, without a metadata lock; a file that it can't read is missing. The condition is a
// constant: if it is false, the server does not fill the view.
const readFiles = `
  select count(*) as tables_read
    from information_schema.innodb_sys_tablestats
   where ${tableCount} > ${OPENED}
     and ${unreadFiles} between 1 and ${UNREAD}`;

const filesOfSchemas = (version: number) => `
  select ${isMariaDb(version) ? schemaOfFile('name') : exactName(`substring_index(name, '/', 1)`)} as db,
         sum(file_size) + 0e0 as bytes
    from information_schema.${isMariaDb(version) ? 'innodb_sys_tablespaces' : 'innodb_tablespaces'}
   where name like '%/%' and name not like 'mysql/%' and name not like 'sys/%'
     and ${tableCount} > ${OPENED}${isMariaDb(version) ? `\n     and ${unreadFiles} <= ${UNREAD}` : ''}
   group by db
   order by bytes desc
   limit 50`;

// MySQL looks these tables up by their names; MariaDB would open every table for the join.
const sizesOfLargestFiles = `
  select t.table_schema as db, t.table_name as name, t.data_length + 0e0 as data_bytes, t.index_length + 0e0 as index_bytes
    from (${sizesOfFiles}
           order by bytes desc
           limit 10) file
    join information_schema.tables t on ${exactName(`concat(t.table_schema, '/', t.table_name)`)} = file.name
   where ${tableCount} > ${OPENED}`;

const files: VitalReading = {
  id: 'VITALS_FILES',
  scope: 'server',
  what: 'sizes of files',
  privilege: PROCESS,
  hourly: true,
  sql: (version) =>
    isMariaDb(version)
      ? [readFiles, filesOfSchemas(version)]
      : [filesOfSchemas(version), sizesOfLargestFiles],
  kept: sizesIn,
  values: gaugesIn,
};

function sizesIn(rows: readonly Row[]): Row[] {
  return rows.flatMap(({ db, name, bytes, data_bytes, index_bytes }): Row[] => {
    if (typeof db !== 'string') return [];
    if (typeof name !== 'string') return [{ name: 'database_bytes', database: db, value: bytes }];
    const object = quoted(db, name);
    return [
      { name: 'table_bytes', object, value: data_bytes },
      { name: 'index_bytes', object, value: index_bytes },
    ];
  });
}

/** How the vitals of MySQL and MariaDB are read: one statement a run besides those of checks, and once an hour the sizes. */
export const mysqlReadings: readonly VitalReading[] = [status, history, replication, sizes, files];
