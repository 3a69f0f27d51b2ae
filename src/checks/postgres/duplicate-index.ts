import { listIn, numberIn, textIn } from '../columns.ts';
import { size } from '../wording.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

/** Bytes from which a duplicate is a warning: a smaller one is cached, and costs writes next to nothing. */
const thresholds = { minimum_bytes: 1024 * 1024 };

// twin: those of a table with another index over the same columns, so that few are compared in every respect.
// Before 17 node trees contain positions in the statement, which make no difference and are removed;
// pg_get_expr would wait for a lock. Indexes that must stay come first, then constraints, unique ones, those
// that are read, the older one.
const candidates = (version: number): string => `
  with twin as materialized (
    select i.indexrelid
      from pg_index i
     where exists (select from pg_index other
                    where other.indrelid = i.indrelid
                      and other.indkey::int2[] = i.indkey::int2[]
                      and other.indexrelid <> i.indexrelid)
  ), index as (
    select i.indexrelid, i.indrelid, i.indisunique, i.indimmediate, i.indisexclusion,
           ${version >= 150_000 ? 'i.indnullsnotdistinct' : 'false'} as nulls_not_distinct,
           c.relkind, c.relpages, c.reloptions, am.amname,
           quote_ident(n.nspname) as schema_name,
           format('%I.%I', n.nspname, c.relname) as index_name,
           format('%I.%I', n.nspname, t.relname) as table_name,
           quote_ident(k.conname) as constraint_name,
           i.indisprimary or i.indisreplident or i.indisclustered or c.relispartition or coalesce(k.contype = 'x', false)
             or exists (select from pg_constraint f where f.contype = 'f' and f.conindid = i.indexrelid) as must_stay,
           concat_ws('|', i.indrelid, c.relam, i.indnkeyatts, i.indkey, i.indclass, i.indcollation, i.indoption,
                     regexp_replace(i.indexprs::text, ':location -?[0-9]+', '', 'g'), 'where',
                     regexp_replace(i.indpred::text, ':location -?[0-9]+', '', 'g')) as shape
      from twin
      join pg_index i on i.indexrelid = twin.indexrelid
      join pg_class c on c.oid = i.indexrelid
      join pg_am am on am.oid = c.relam
      join pg_class t on t.oid = i.indrelid
      join pg_namespace n on n.oid = t.relnamespace
      left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')
     where i.indisvalid
       and c.relpersistence <> 't'
       and n.nspname !~ '^pg_'
       and n.nspname <> 'information_schema'
       and ${notOfExtension('i.indrelid', 'n.oid')}
  ), ranked as (
    select index.*,
           row_number() over (partition by shape order by must_stay desc, constraint_name is not null desc,
                                           indisunique desc, pg_stat_get_numscans(indexrelid) > 0 desc,
                                           indexrelid) as rank
      from index
  )
  select spare.schema_name, spare.index_name, spare.table_name, spare.constraint_name, spare.relkind = 'I' as partitioned,
         spare.relpages::float8 * current_setting('block_size')::float8 as bytes,
         array_agg(kept.index_name order by kept.rank) as kept_names,
         count(*) over ()::float8 as total, null as unseen
    from ranked spare
    join ranked kept on kept.shape = spare.shape and kept.rank < spare.rank
   where not spare.must_stay
     and (not spare.indisunique
          or kept.indisunique and kept.indimmediate and (kept.nulls_not_distinct or not spare.nulls_not_distinct))
     and (spare.amname in ('btree', 'hash') or kept.reloptions is not distinct from spare.reloptions)
     and not exists (
       select attnum, attoptions from pg_attribute where attrelid = kept.indexrelid
       except
       select attnum, attoptions from pg_attribute where attrelid = spare.indexrelid)
   group by spare.schema_name, spare.index_name, spare.table_name, spare.constraint_name, spare.relkind, spare.relpages
   order by spare.relpages desc, spare.index_name`;

/** Indexes that another index of the same table duplicates in every respect that matters to a query. */
export const duplicateIndex = relationCheck({
  id: 'PG_DUPLICATE_INDEX',
  title: 'Duplicate index',
  category: 'indexes',
  maxSeverity: 'warning',
  thresholds,
  bySize: true,
  candidates,
  perSchema: { noun: 'small duplicate indexes', advice: 'drop them' },
  countMetric: 'duplicate_indexes_count',
  fault: (row, { thresholds: { minimum_bytes } }, { unsized }) => {
    // Of a partitioned index the size is not known.
    const small = !unsized && row['partitioned'] !== true && numberIn(row, 'bytes') < minimum_bytes;
    const bytes = unsized ? '' : ` (${size(numberIn(row, 'bytes'))})`;
    const index = textIn(row, 'index_name');
    const table = textIn(row, 'table_name');
    return {
      severity: small ? 'info' : 'warning',
      object: index,
      metricLine: `index ${index}${bytes} duplicates ${listIn(row, 'kept_names')[0]} on ${table}; drop it.`,
      remediation: dropStatement(index, table, row['constraint_name'], row['partitioned'] === true),
    };
  },
  indexAdvice: (row) => ({
    action: 'drop',
    because: 'covered',
    index: textIn(row, 'index_name'),
    purposes: [listIn(row, 'kept_names')],
    coveredBy: (kept) => ({ ...row, kept_names: [kept] }),
  }),
  passMessage: 'No index duplicates another.',
});

// A partitioned index can't be dropped concurrently.
function dropStatement(index: string, table: string, constraint: unknown, partitioned: boolean): string {
  if (typeof constraint === 'string') return `ALTER TABLE ${table} DROP CONSTRAINT ${constraint};`;
  return partitioned ? `DROP INDEX ${index};` : `DROP INDEX CONCURRENTLY ${index};`;
}
