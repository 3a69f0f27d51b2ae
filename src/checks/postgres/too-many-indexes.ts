import { numberIn, textIn } from '../columns.ts';
import { atLeast } from '../worst-measures.ts';
import { relationCheck } from './relation-check.ts';

/** Indexes that a table may have: dbvitals' own value. */
const thresholds = { info: 10 };

// A partition has its parent's.
const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         quote_literal(format('%I.%I', n.nspname, c.relname)) as literal,
         count(*)::int as indexes,
         null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_index i on i.indrelid = c.oid
   where not c.relispartition
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and not exists (select from pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
   group by n.nspname, c.relname
   order by count(*) desc, table_name`;

/** Tables with so many indexes that every write is slow. */
export const tooManyIndexes = relationCheck({
  id: 'PG_TOO_MANY_INDEXES',
  title: 'Table with many indexes',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  candidates: () => candidates,
  sorted: true,
  countMetric: 'tables_with_many_indexes_count',
  measure: (row, { thresholds }) => ({
    ...atLeast('table_indexes_count', Math.floor(thresholds.info) + 1),
    object: textIn(row, 'table_name'),
    value: numberIn(row, 'indexes'),
  }),
  fault: (row, facts) => {
    const { info } = facts.thresholds;
    const indexes = numberIn(row, 'indexes');
    if (indexes <= info) return null;
    const table = textIn(row, 'table_name');
    return {
      severity: 'info',
      object: table,
      metricLine: `table ${table} has ${indexes} indexes, and every write maintains them; review which of them queries use.`,
      remediation: `SELECT indexrelname, idx_scan FROM pg_stat_all_indexes WHERE relid = ${textIn(row, 'literal')}::regclass ORDER BY idx_scan;`,
    };
  },
  passMessage: 'No table has too many indexes.',
});
