import { listIn, numberIn, textIn } from '../columns.ts';
import { size } from '../wording.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

/** Bytes of the index: a smaller one is cached, and costs writes next to nothing. */
const thresholds = { minimum_bytes: 1024 * 1024 };

// Only B-trees serve a prefix of their columns. An index with an expression is left out: its position among the
// columns is known, but all expressions share one tree. Node trees as in PG_DUPLICATE_INDEX. The pairs come first, and the
// names of the few: most indexes have none.
const candidates = `
  with pair as materialized (
    select spare.indexrelid as spare, longer.indexrelid as longer, spare.indrelid
      from pg_index spare
      join pg_index longer
        on longer.indrelid = spare.indrelid
       and longer.indexrelid <> spare.indexrelid
       and longer.indnatts > spare.indnatts
       and longer.indnkeyatts >= spare.indnkeyatts
       and (longer.indkey::int2[])[0 : spare.indnkeyatts - 1] = (spare.indkey::int2[])[0 : spare.indnkeyatts - 1]
       and (longer.indclass::oid[])[0 : spare.indnkeyatts - 1] = (spare.indclass::oid[])[0 : spare.indnkeyatts - 1]
       and (longer.indcollation::oid[])[0 : spare.indnkeyatts - 1]
           = (spare.indcollation::oid[])[0 : spare.indnkeyatts - 1]
       and (longer.indoption::int2[])[0 : spare.indnkeyatts - 1] = (spare.indoption::int2[])[0 : spare.indnkeyatts - 1]
       and longer.indkey::int2[] @> spare.indkey::int2[]
       and regexp_replace(longer.indpred::text, ':location -?[0-9]+', '', 'g')
           is not distinct from regexp_replace(spare.indpred::text, ':location -?[0-9]+', '', 'g')
     where spare.indisvalid
       and longer.indisvalid
       and spare.indexprs is null
       and not spare.indisunique
       and not spare.indisexclusion
       and not spare.indisreplident
       and not spare.indisclustered
       and not exists (select from pg_constraint k where k.conindid = spare.indexrelid)
  )
  select quote_ident(n.nspname) as schema_name,
         format('%I.%I', n.nspname, c.relname) as index_name,
         format('%I.%I', n.nspname, t.relname) as table_name,
         c.relkind = 'I' as partitioned,
         c.relpages::float8 * current_setting('block_size')::float8 as bytes,
         array_agg(format('%I.%I', n.nspname, l.relname) order by l.relpages, l.relname) as longer_names,
         null as unseen
    from pair
    join pg_class c on c.oid = pair.spare
    join pg_class l on l.oid = pair.longer
    join pg_am am on am.oid = c.relam and am.amname = 'btree'
    join pg_class t on t.oid = pair.indrelid
    join pg_namespace n on n.oid = t.relnamespace
   where l.relam = c.relam
     and not c.relispartition
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('pair.indrelid', 'n.oid')}
   group by n.nspname, c.relname, t.relname, c.relkind, c.relpages
   order by c.relkind = 'I' desc, c.relpages desc, n.nspname, c.relname`;

/** Indexes whose columns are the first ones of another index of the table, which serves their queries too. */
export const redundantIndex = relationCheck({
  id: 'PG_REDUNDANT_INDEX',
  title: 'Redundant index',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  bySize: true,
  candidates: () => candidates,
  sorted: true,
  perSchema: { noun: 'indexes that others cover', advice: 'drop them' },
  countMetric: 'redundant_indexes_count',
  fault: (row, { thresholds: { minimum_bytes } }) => {
    // Of a partitioned index the size is not known.
    if (row['partitioned'] !== true && numberIn(row, 'bytes') < minimum_bytes) return null;
    const index = textIn(row, 'index_name');
    return {
      severity: 'info',
      object: index,
      metricLine: `index ${index} (${size(numberIn(row, 'bytes'))}) on ${textIn(row, 'table_name')} is covered by ${listIn(row, 'longer_names')[0]}, which begins with its columns; drop it.`,
      // A partitioned index can't be dropped concurrently.
      remediation: `DROP INDEX ${row['partitioned'] === true ? '' : 'CONCURRENTLY '}${index};`,
    };
  },
  indexAdvice: (row) => ({
    action: 'drop',
    because: 'covered',
    index: textIn(row, 'index_name'),
    purposes: [listIn(row, 'longer_names')],
    coveredBy: (longer) => ({ ...row, longer_names: [longer] }),
  }),
  passMessage: 'No index is covered by another.',
});
