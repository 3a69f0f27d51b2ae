import { numberIn, textIn } from '../columns.ts';
import { counted } from '../wording.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';
import { isTiny, tableRows } from './table-rows.ts';

/** Rows of the largest table that has such a column: reading fewer takes about a millisecond. */
const thresholds = { minimum_rows: 10_000 };

/** Names of columns that refer to another table's row: these are joined. */
const REFERENCE = '._(id|uuid|guid|code|key)$';

// Text of a domain has the domain's collation. The size of a partitioned table is not known.
const candidates = `
  select quote_ident(nspname) as schema_name,
         quote_literal(quote_ident(nspname)) as literal,
         count(*)::int as columns,
         array_to_string((array_agg(quote_ident(attname) order by attname))[1:5], ', ') as names,
         case when bool_and(rows is not null) then max(rows) end as rows,
         null as unseen
    from (
      select n.nspname, a.attname,
             max(${tableRows('c')}) as rows
        from pg_attribute a
        join pg_class c on c.oid = a.attrelid
        join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p')
         and not c.relispartition
         and c.relpersistence <> 't'
         and a.attnum > 0
         and a.attcollation <> 0
         and a.atttypid <> 'name'::regtype
         and a.attname ~ '${REFERENCE}'
         and n.nspname !~ '^pg_'
         and n.nspname <> 'information_schema'
         and ${notOfExtension('c.oid', 'n.oid')}
       group by n.nspname, a.attname
      having count(distinct a.attcollation) > 1
    ) mixed
   group by nspname
   order by rows desc nulls first, nspname`;

/** Columns of one name that refer to other tables, in different collations: a join of them fails or uses no index. */
export const mixedCollations = relationCheck({
  id: 'PG_MIXED_COLLATIONS',
  title: 'Mixed collations',
  category: 'schema',
  maxSeverity: 'info',
  thresholds,
  bySize: true,
  candidates: () => candidates,
  sorted: true,
  countMetric: 'mixed_collations_schemas_count',
  fault: (row, { thresholds }) => {
    if (isTiny(row, thresholds)) return null;
    const schema = textIn(row, 'schema_name');
    const columns = counted(numberIn(row, 'columns'), 'name');
    return {
      severity: 'info',
      object: schema,
      metricLine: `in schema ${schema}, columns of the same name have different collations (${columns}: ${textIn(row, 'names')}); a join of them fails or can't use an index. Give them one collation.`,
      remediation: `SELECT a.attname, a.attcollation::regcollation, string_agg(c.oid::regclass::text, ', ') FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = ${textIn(row, 'literal')}::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND a.attcollation <> 0 AND a.attname ~ '${REFERENCE}' GROUP BY 1, 2 ORDER BY 1, 2; -- then give the columns that you join one collation with ALTER TABLE … ALTER COLUMN … TYPE … COLLATE …, which builds their indexes again under a lock`,
    };
  },
  passMessage: 'No columns that refer to the same rows of large tables have different collations.',
});
