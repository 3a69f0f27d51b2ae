import type { Row } from '../check.ts';
import { textIn } from '../columns.ts';
import { relationCheck } from './relation-check.ts';

// A concurrent build marks its index invalid until it is done, and may leave more of them on the table meanwhile.
// Only pg_monitor sees the whole progress view; for others any such lock on the table may be a build.
const candidates = `
  select format('%I.%I', n.nspname, c.relname) as index_name,
         format('%I.%I', tn.nspname, t.relname) as table_name,
         c.relname ~ '_cc(new|old)[0-9]*$' as left_over,
         i.indisunique as is_unique,
         quote_literal(format('%I.%I', n.nspname, c.relname)) as literal,
         case when seen.whole and building.any
                then 'Not measured: an index is being built on a table with an invalid one.'
              when not seen.whole and locked.any
                then 'Not measured: an invalid index may be one under construction.'
         end as unseen,
         case when not seen.whole and locked.any then format('GRANT pg_monitor TO %I;', current_user) end as needs
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_class t on t.oid = i.indrelid
    join pg_namespace tn on tn.oid = t.relnamespace
    cross join (select pg_has_role('pg_read_all_stats', 'usage') as whole) seen
    cross join lateral (
      select exists (select from pg_stat_progress_create_index p
                      where p.datname = current_database() and p.relid = i.indrelid) as any
    ) building
    cross join lateral (
      select exists (select from pg_locks l
                      where l.database = (select oid from pg_database where datname = current_database())
                        and l.relation = i.indrelid
                        and l.mode = 'ShareUpdateExclusiveLock'
                        and l.granted) as any
    ) locked
   where not i.indisvalid
     and c.relkind = 'i'
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and not exists (select from pg_stat_progress_create_index p
                      where p.datname = current_database() and p.index_relid = i.indexrelid)
   order by unseen nulls first, index_name`;

/** Indexes that a failed concurrent build left behind: every write maintains them, no query uses them. */
export const invalidIndex = relationCheck({
  id: 'PG_INVALID_INDEX',
  title: 'Invalid index',
  category: 'indexes',
  maxSeverity: 'warning',
  candidates: () => candidates,
  countMetric: 'invalid_indexes_count',
  fault: (row) => {
    const index = textIn(row, 'index_name');
    const table = textIn(row, 'table_name');
    const leftOver = row['left_over'] === true;
    return {
      severity: 'warning',
      object: index,
      metricLine: `index ${index} on ${table} is invalid: no query uses it, every write maintains it; ${leftOver ? 'drop what a failed REINDEX left behind' : 'rebuild it, or drop it if it is not needed'}.`,
      remediation: leftOver ? `DROP INDEX CONCURRENTLY ${index};` : rebuild(index, row),
    };
  },
  passMessage: 'No index is invalid.',
});

// A unique index is mostly invalid because of duplicate rows: each further attempt would leave one more behind.
function rebuild(index: string, row: Row): string {
  const statement = `REINDEX INDEX CONCURRENTLY ${index};`;
  if (row['is_unique'] !== true) return statement;
  return `SELECT pg_get_indexdef(${textIn(row, 'literal')}::regclass); -- then look for rows that have the same values in its columns, correct them, and run ${statement}`;
}
