import { numberIn, textIn } from '../columns.ts';
import { atLeast } from '../worst-measures.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';
import { isTiny, tableRows } from './table-rows.ts';

/** Indexes that a table may have, and rows that it has or had written: dbvitals' own values. */
const thresholds = { info: 10, minimum_rows: 10_000 };

// A partition has its parent's. Of few indexes nobody asks how much the table is written to.
const written = `pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid)`;
const candidates = `
  select quote_ident(n.nspname) as schema_name,
         format('%I.%I', n.nspname, c.relname) as table_name,
         quote_literal(format('%I.%I', n.nspname, c.relname)) as literal,
         counted.indexes,
         case when counted.indexes > 5 then greatest(${tableRows('c')}, (${written})::float8) end as rows,
         null as unseen
    from (select indrelid, count(*)::int as indexes from pg_index group by indrelid) counted
    join pg_class c on c.oid = counted.indrelid
    join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'm')
     and not c.relispartition
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('c.oid', 'n.oid')}
   order by counted.indexes desc, n.nspname, c.relname`;

/** Tables with so many indexes that every write is slow, and with writes. */
export const tooManyIndexes = relationCheck({
  id: 'PG_TOO_MANY_INDEXES',
  title: 'Table with many indexes',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  bySize: true,
  candidates: () => candidates,
  sorted: (row, { thresholds }) => numberIn(row, 'indexes') <= thresholds.info,
  perSchema: { noun: 'tables with many indexes', advice: 'review which of them queries use' },
  countMetric: 'tables_with_many_indexes_count',
  measure: (row, { thresholds }) =>
    isTiny(row, thresholds)
      ? null
      : {
          ...atLeast('table_indexes_count', Math.floor(thresholds.info) + 1),
          object: textIn(row, 'table_name'),
          value: numberIn(row, 'indexes'),
        },
  fault: (row, facts) => {
    const { info } = facts.thresholds;
    const indexes = numberIn(row, 'indexes');
    if (indexes <= info || isTiny(row, facts.thresholds)) return null;
    const table = textIn(row, 'table_name');
    return {
      severity: 'info',
      object: table,
      metricLine: `table ${table} has ${indexes} indexes, and every write maintains them; review which of them queries use.`,
      remediation: `SELECT indexrelname, idx_scan FROM pg_stat_all_indexes WHERE relid = ${textIn(row, 'literal')}::regclass ORDER BY idx_scan; -- then drop those that no query uses, on a standby neither`,
    };
  },
  passMessage: 'No table that is large or often written to has too many indexes.',
});
