import type { Row } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import { duration, grouped, size } from '../wording.ts';
import { isMariaDb } from './flavour.ts';
import { quoted } from './quote.ts';
import { ofCustomers, tableCheck } from './table-check.ts';

const DAY = 86_400;

/** `statistics_days` include monthly reports; `minimum_bytes` of all secondary indexes of the table together. */
const thresholds = { minimum_bytes: 10 * 1024 * 1024, statistics_days: 35 };

// information_schema and performance_schema use different collations, which do not mix.
const bin = (column: string) => `convert(${column} using utf8mb4) collate utf8mb4_bin`;

// An index whose first column belongs to a foreign key, on either side, or is AUTO_INCREMENT may be needed for that.
// Reads of a full-text or spatial index are not counted.
const candidates = (version: number) => `
  select i.table_schema as table_schema, i.table_name as table_name, i.index_name as index_name,
         t.index_length + 0e0 as bytes
    from (select ${bin('table_schema')} as table_schema, ${bin('table_name')} as table_name,
                 ${bin('index_name')} as index_name, ${bin('column_name')} as column_name
            from information_schema.statistics
           where ${ofCustomers()}
             and seq_in_index = 1 and non_unique = 1 and index_type = 'BTREE'
             and ${isMariaDb(version) ? "ignored = 'NO'" : "is_visible = 'YES'"}
         ) i
    join (select ${bin('table_schema')} as table_schema, ${bin('table_name')} as table_name, max(index_length) as index_length
            from information_schema.tables
           where ${ofCustomers()} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED')
           group by 1, 2
         ) t on t.table_schema = i.table_schema and t.table_name = i.table_name
    left join (select ${bin('object_schema')} as table_schema, ${bin('object_name')} as table_name, ${bin('index_name')} as index_name
                 from performance_schema.table_io_waits_summary_by_index_usage
                where object_type = 'TABLE' and index_name is not null and count_star > 0
                group by 1, 2, 3
              ) used on used.table_schema = i.table_schema and used.table_name = i.table_name
                    and used.index_name = i.index_name
    left join (select ${bin('if(own, table_schema, referenced_table_schema)')} as table_schema,
                      ${bin('if(own, table_name, referenced_table_name)')} as table_name,
                      ${bin('if(own, column_name, referenced_column_name)')} as column_name
                 from information_schema.key_column_usage
                cross join (select 1 as own union all select 0) side
                where referenced_table_name is not null and ordinal_position = 1
                union
               select ${bin('table_schema')}, ${bin('table_name')}, ${bin('column_name')}
                 from information_schema.columns
                where ${ofCustomers()} and extra like '%auto_increment%'
              ) needed on needed.table_schema = i.table_schema and needed.table_name = i.table_name
                      and needed.column_name = i.column_name
   where @@performance_schema = 1
     and used.table_schema is null
     and needed.table_schema is null`;

// Each is 0 if every read by every session is counted.
const extraColumns = `
         (select count(*) from performance_schema.setup_instruments
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
  privilege: () => 'SELECT ON performance_schema.*',
  candidates,
  needs: { status: ['Uptime', ...lost], variables: ['performance_schema', 'log_bin'] },
  extraColumns,
  worstFirst: 'bytes desc',
  countMetric: 'unused_indexes_count',
  measure: (row, { thresholds }) => ({
    metric: 'secondary_indexes_bytes',
    object: indexOf(row),
    value: numberIn(row, 'bytes'),
    operator: '>=',
    warning: thresholds.minimum_bytes,
    critical: null,
  }),
  blind: (server, first, facts) => {
    const { statistics_days } = facts.thresholds;
    if (!server.on('performance_schema'))
      return 'Not measured: performance_schema is off; reads of indexes are not counted.';
    if (numberIn(first, 'uncounted') > 0)
      return 'Not measured: performance_schema is configured to exclude reads of some tables or sessions.';
    const full = lost.filter((name) => server.has(name) && server.number(name) > 0);
    if (full.length > 0)
      return `Not measured: performance_schema ran out of memory for some indexes (${full}).`;
    const seconds = server.number('Uptime');
    if (seconds < statistics_days * DAY)
      return `Not measured: reads have been counted for ${duration(seconds)}, since the server started; it takes ${grouped(statistics_days)} days.`;
    return undefined;
  },
  fault: (row, facts, server) => {
    const { minimum_bytes } = facts.thresholds;
    const bytes = numberIn(row, 'bytes');
    if (bytes < minimum_bytes) return null;
    const table = quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'));
    const index = quoted(textIn(row, 'index_name'));
    const replicas = server.on('log_bin') ? ' Replicas count their own reads: check each of them first.' : '';
    const hide = `ALTER TABLE ${table} ALTER INDEX ${index} ${isMariaDb(facts.version) ? 'IGNORED' : 'INVISIBLE'};`;
    return {
      severity: 'info',
      object: indexOf(row),
      metricLine: `index ${index} of table ${table} (all its secondary indexes: ${size(bytes)}) was not read in ${duration(server.number('Uptime'))}; make it invisible, then drop it.${replicas}`,
      remediation: `${hide} -- and if nothing needs it: ALTER TABLE ${table} DROP INDEX ${index};`,
    };
  },
  passMessage: 'Every index of a large table was read.',
});

function indexOf(row: Row): string {
  return quoted(textIn(row, 'table_schema'), textIn(row, 'table_name'), textIn(row, 'index_name'));
}
