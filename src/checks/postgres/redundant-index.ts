import { numberIn, textIn } from '../columns.ts';
import { size } from '../wording.ts';
import { relationCheck } from './relation-check.ts';

// Only B-trees serve a prefix of their columns. An index with an expression is left out: its position among the
// columns is known, but all expressions share one tree. Node trees as in PG_DUPLICATE_INDEX.
const candidates = `
  with index as (
    select i.*, c.relname, c.relkind, c.relpages, c.relispartition,
           i.indkey::int2[] as keys, i.indclass::oid[] as classes, i.indcollation::oid[] as collations,
           i.indoption::int2[] as options,
           format('%I.%I', n.nspname, c.relname) as index_name,
           format('%I.%I', n.nspname, t.relname) as table_name,
           regexp_replace(i.indpred::text, ':location -?[0-9]+', '', 'g') as predicate
      from pg_index i
      join pg_class c on c.oid = i.indexrelid
      join pg_am am on am.oid = c.relam and am.amname = 'btree'
      join pg_class t on t.oid = i.indrelid
      join pg_namespace n on n.oid = t.relnamespace
     where i.indisvalid
       and c.relpersistence <> 't'
       and n.nspname !~ '^pg_'
       and n.nspname <> 'information_schema'
       and not exists (select from pg_depend d
                        where d.classid = 'pg_class'::regclass and d.objid = i.indrelid and d.deptype = 'e')
  )
  select spare.index_name, spare.table_name, spare.relkind = 'I' as partitioned,
         spare.relpages::float8 * current_setting('block_size')::float8 as bytes,
         (array_agg(longer.index_name order by longer.relpages, longer.index_name))[1] as longer_name,
         count(*) over ()::float8 as total, null as unseen
    from index spare
    join index longer
      on longer.indrelid = spare.indrelid
     and longer.indexrelid <> spare.indexrelid
     and longer.indnatts > spare.indnatts
     and longer.indnkeyatts >= spare.indnkeyatts
     and longer.predicate is not distinct from spare.predicate
     and longer.keys[0 : spare.indnkeyatts - 1] = spare.keys[0 : spare.indnkeyatts - 1]
     and longer.classes[0 : spare.indnkeyatts - 1] = spare.classes[0 : spare.indnkeyatts - 1]
     and longer.collations[0 : spare.indnkeyatts - 1] = spare.collations[0 : spare.indnkeyatts - 1]
     and longer.options[0 : spare.indnkeyatts - 1] = spare.options[0 : spare.indnkeyatts - 1]
     and longer.keys @> spare.keys
   where spare.indexprs is null
     and not spare.indisunique
     and not spare.indisexclusion
     and not spare.indisreplident
     and not spare.indisclustered
     and not spare.relispartition
     and not exists (select from pg_constraint k where k.conindid = spare.indexrelid)
   group by spare.index_name, spare.table_name, spare.relkind, spare.relpages
   order by spare.relpages desc, spare.index_name`;

/** Indexes whose columns are the first ones of another index of the table, which serves their queries too. */
export const redundantIndex = relationCheck({
  id: 'PG_REDUNDANT_INDEX',
  title: 'Redundant index',
  category: 'indexes',
  maxSeverity: 'info',
  candidates: () => candidates,
  sorted: true,
  countMetric: 'redundant_indexes_count',
  fault: (row) => {
    const index = textIn(row, 'index_name');
    return {
      severity: 'info',
      object: index,
      metricLine: `index ${index} (${size(numberIn(row, 'bytes'))}) on ${textIn(row, 'table_name')} is covered by ${textIn(row, 'longer_name')}, which begins with its columns; drop it.`,
      // A partitioned index can't be dropped concurrently.
      remediation: `DROP INDEX ${row['partitioned'] === true ? '' : 'CONCURRENTLY '}${index};`,
    };
  },
  passMessage: 'No index is covered by another.',
});
