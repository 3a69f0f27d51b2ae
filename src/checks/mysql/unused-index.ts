import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { duration, grouped, size } from '../wording.ts';
import { hideIndex, lookAtTable } from './alter-table.ts';
import { exactName } from './exact-name.ts';
import { isMariaDb } from './flavour.ts';
import { quoted } from './quote.ts';
import { foreignKeyColumns, LARGEST, largestTables, NEAR } from './suspects.ts';
import { tableCheck, tableOf } from './table-check.ts';
import type { TableCondition } from './table-condition.ts';

const DAY = 86_400;

/** `statistics_days` include monthly reports; `minimum_bytes` of all secondary indexes of the table together. */
const thresholds = { minimum_bytes: 10 * 1024 * 1024, statistics_days: 35 };

// An index whose first column belongs to a foreign key, on either side, or is AUTO_INCREMENT may be needed for that.
// Reads of a full-text or spatial index are not counted.
const candidates = (version: number, ofTables: TableCondition) => `
  select i.table_schema as table_schema, i.table_name as table_name, i.index_name as index_name,
         t.index_length + 0e0 as bytes
    from (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name,
                 ${exactName('index_name')} as index_name, ${exactName('column_name')} as column_name
            from information_schema.statistics
           where ${ofTables()}
             and seq_in_index = 1 and non_unique = 1 and index_type = 'BTREE'
             and ${isMariaDb(version) ? "ignored = 'NO'" : "is_visible = 'YES'"}
         ) i
    join (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name, max(index_length) as index_length
            from information_schema.tables
           where ${ofTables()} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
           group by 1, 2
         ) t on t.table_schema = i.table_schema and t.table_name = i.table_name
    left join (select ${exactName('object_schema')} as table_schema, ${exactName('object_name')} as table_name, ${exactName('index_name')} as index_name
                 from performance_schema.table_io_waits_summary_by_index_usage
                where object_type = 'TABLE' and index_name is not null and count_star > 0
                group by 1, 2, 3
              ) used on used.table_schema = i.table_schema and used.table_name = i.table_name
                    and used.index_name = i.index_name
    left join (select ${exactName('table_schema')} as table_schema, ${exactName('table_name')} as table_name,
                      ${exactName('column_name')} as column_name
                 from (${foreignKeyColumns(version, { onlyFirst: true })}) side
                where ${ofTables()}
                union
               select ${exactName('table_schema')}, ${exactName('table_name')}, ${exactName('column_name')}
                 from information_schema.columns
                where ${ofTables()} and extra like '%auto_increment%'
              ) needed on needed.table_schema = i.table_schema and needed.table_name = i.table_name
                      and needed.column_name = i.column_name
   where @@performance_schema = 1
     and used.table_schema is null
     and needed.table_schema is null`;

// Each is 0 if every read by every session is counted.
const uncounted = `
  select (select count(*) from performance_schema.setup_instruments
           where name = 'wait/io/table/sql/handler' and enabled <> 'YES')
         + (select count(*) from performance_schema.setup_consumers
             where name in ('global_instrumentation', 'thread_instrumentation') and enabled <> 'YES')
         + (select count(*) from performance_schema.setup_objects
             where object_type = 'TABLE' and enabled <> 'YES'
               and object_schema not in ('mysql', 'sys', 'information_schema', 'performance_schema'))
         + (select count(*) from performance_schema.setup_actors where enabled <> 'YES') as uncounted`;

const lost = ['Performance_schema_index_stat_lost', 'Performance_schema_table_instances_lost'];

/** Indexes that nothing has read since the server started. */
export const unusedIndex = tableCheck({
  id: 'MY_UNUSED_INDEX',
  title: 'Unused index',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  privilege: () => ['PROCESS ON *.*', 'SELECT ON performance_schema.*'],
  candidates,
  suspects: (version) => ({
    ...largestTables(version, LARGEST),
    isLarge: ({ bytes }, { minimum_bytes }) => bytes >= NEAR * minimum_bytes,
  }),
  needs: { status: ['Uptime', ...lost], variables: ['performance_schema', 'log_bin'] },
  about: uncounted,
  worstFirst: 'bytes desc',
  perSchema: { noun: 'large indexes that nothing reads', advice: 'make them invisible, then drop them' },
  countMetric: 'unused_indexes_count',
  measure: (row, { thresholds }) => ({
    metric: 'secondary_indexes_bytes',
    object: indexOf(row),
    value: numberIn(row, 'bytes'),
    operator: '>=',
    warning: thresholds.minimum_bytes,
    critical: null,
  }),
  blind: (server, rows, facts) => {
    const { statistics_days } = facts.thresholds;
    if (!server.on('performance_schema'))
      return 'Not measured: performance_schema is off; reads of indexes are not counted.';
    if (rows.some((row) => Number(row['uncounted']) > 0))
      return 'Not measured: performance_schema is configured to exclude reads of some tables or sessions.';
    const full = lost.filter((name) => server.has(name) && server.number(name) > 0);
    if (full.length > 0)
      return `Not measured: performance_schema ran out of memory for some indexes (${full}).`;
    const seconds = server.number('Uptime');
    if (seconds < statistics_days * DAY)
      return `Not measured: reads have been counted for ${duration(seconds)}, since the server started; it takes ${grouped(statistics_days)} days.`;
    return undefined;
  },
  details: { of: (row, { minimum_bytes }) => numberIn(row, 'bytes') >= minimum_bytes },
  fault: (row, facts, server, details) => {
    const { minimum_bytes } = facts.thresholds;
    const bytes = numberIn(row, 'bytes');
    if (bytes < minimum_bytes) return null;
    const table = tableOf(row);
    const index = quoted(textIn(row, 'index_name'));
    const replicas = server.on('log_bin') ? ' Replicas count their own reads: check each of them first.' : '';
    return {
      severity: 'info',
      object: indexOf(row),
      metricLine: `index ${index} of table ${table} (all its secondary indexes: ${size(bytes)}) was not read in ${duration(server.number('Uptime'))}; make it invisible, then drop it.${replicas}`,
      remediation: details ? hideIndex(details, index) : lookAtTable(row),
    };
  },
  indexAdvice: (row) => ({ action: 'drop', because: 'unused', index: indexOf(row), purposes: [] }),
  passMessage: 'Every index of a large table was read.',
});

function indexOf(row: Row): string {
  return quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'), textIn(row, 'index_name'));
}
