import { textIn } from '../columns.ts';
import { relationCheck } from './relation-check.ts';

// The columns may be in any order, as long as they come first. A predicate that only says that one of them is not
// null hides no referencing row. A partition's constraint is its parent's (conparentid).
const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         quote_ident(k.conname) as constraint_name,
         format('%I.%I', rn.nspname, r.relname) as referenced_name,
         c.relkind = 'p' as partitioned,
         (select string_agg(quote_ident(a.attname), ', ' order by place)
            from unnest(k.conkey) with ordinality as key (attnum, place)
            join pg_attribute a on a.attrelid = k.conrelid and a.attnum = key.attnum) as columns,
         count(*) over ()::float8 as total, null as unseen
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_class r on r.oid = k.confrelid
    join pg_namespace rn on rn.oid = r.relnamespace
   where k.contype = 'f'
     and k.conparentid = 0
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and not exists (select from pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     and not exists (
       select
         from pg_index i
         join pg_class ic on ic.oid = i.indexrelid
         join pg_am am on am.oid = ic.relam
        where i.indrelid = k.conrelid
          and i.indisvalid
          and am.amname in ('btree', 'hash')
          and i.indnkeyatts >= cardinality(k.conkey)
          and (i.indkey::int2[])[0 : cardinality(k.conkey) - 1] @> k.conkey
          and (i.indpred is null
               or i.indpred::text ~ ('^\\{NULLTEST :arg \\{VAR [^{}]*:varattno ('
                                     || array_to_string(k.conkey, '|') || ') [^{}]*\\} :nulltesttype 1 ')))
   order by c.reltuples desc, table_name, constraint_name`;

/** Foreign keys without an index: each delete or key change in the referenced table scans the referencing table. */
export const fkUnindexed = relationCheck({
  id: 'PG_FK_UNINDEXED',
  title: 'Foreign key without index',
  category: 'indexes',
  maxSeverity: 'info',
  candidates: () => candidates,
  countMetric: 'unindexed_foreign_keys_count',
  fault: (row) => {
    const table = textIn(row, 'table_name');
    const constraint = textIn(row, 'constraint_name');
    const columns = textIn(row, 'columns');
    // A partitioned table's index can't be built concurrently.
    const how = row['partitioned'] === true ? '' : ' CONCURRENTLY';
    return {
      severity: 'info',
      object: `${table}.${constraint}`,
      metricLine: `foreign key ${constraint} of table ${table} has no index on (${columns}); add one, or every delete in ${textIn(row, 'referenced_name')} reads the whole table.`,
      remediation: `CREATE INDEX${how} ON ${table} (${columns});`,
    };
  },
  passMessage: 'Every foreign key has an index.',
});
