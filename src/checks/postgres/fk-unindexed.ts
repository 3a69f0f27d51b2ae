import { FAULT_LIMIT } from '../check.ts';
import { listIn, textIn } from '../columns.ts';
import { notOfExtension } from './extension-objects.ts';
import { findsReferences, isEnforced, keyColumns } from './foreign-key-index.ts';
import { LEFT_OVER } from './invalid-index.ts';
import { relationCheck } from './relation-check.ts';
import { isTiny, mayHaveRows, tableRows } from './table-rows.ts';

/** Rows of the referencing table: reading fewer takes about a millisecond, so no delete is slow for want of the index. */
const thresholds = { minimum_rows: 10_000 };

// Each partition has the constraint as its own, under its own column numbers, and a delete looks in each of them. It does not
// matter whether their indexes have a parent.
const partitionsHaveIndexes = (version: number) => `
             (c.relkind = 'p' and coalesce((
               with recursive part (oid) as (
                 select k.oid
                  union all
                 select child.oid
                   from part
                   join pg_constraint own on own.oid = part.oid
                   join pg_constraint child on child.conparentid = own.oid
                   join pg_inherits h on h.inhrelid = child.conrelid and h.inhparent = own.conrelid)
               select bool_and(exists (
                        select
                          from pg_index i
                         where i.indrelid = leaf_key.conrelid and i.indisvalid
                           and ${findsReferences('i', 'leaf_key', version)}))
                 from part
                 join pg_constraint leaf_key on leaf_key.oid = part.oid
                 join pg_class leaf on leaf.oid = leaf_key.conrelid and leaf.relkind <> 'p'), false))`;

// A partition's constraint is its parent's (conparentid). Of two over the same columns the older one is listed, because one
// index serves both. An invalid index that would serve is being built, or PG_INVALID_INDEX asks to rebuild it.
const candidates = (version: number, { minimum_rows }: typeof thresholds): string => `
  select quote_ident(n.nspname) as schema_name,
         format('%I.%I', n.nspname, bare.relname) as table_name,
         quote_ident(bare.conname) as constraint_name,
         format('%I.%I', rn.nspname, r.relname) as referenced_name,
         bare.relkind = 'p' as partitioned,
         array(select quote_ident(a.attname)
                 from unnest(bare.columns) with ordinality as key (attnum, place)
                 join pg_attribute a on a.attrelid = bare.conrelid and a.attnum = key.attnum
                order by place) as columns,
         bare.rows, null as unseen
    from (
      select k.conname, k.conrelid, k.confrelid, ${keyColumns('k', version)} as columns,
             c.relname, c.relnamespace, c.relkind, ${tableRows('c')} as rows
        from pg_constraint k
        join pg_class c on c.oid = k.conrelid
        join pg_namespace n on n.oid = c.relnamespace
       where k.contype = 'f'
         and k.conparentid = 0
         and ${mayHaveRows('c', minimum_rows)}
         and ${isEnforced('k', version)}
         and not exists (select from pg_constraint same
                          where same.conrelid = k.conrelid and same.contype = 'f' and same.oid < k.oid
                            and same.conkey @> k.conkey and same.conkey <@ k.conkey
                            and ${isEnforced('same', version)})
         and c.relpersistence <> 't'
         and n.nspname !~ '^pg_'
         and n.nspname <> 'information_schema'
         and ${notOfExtension('c.oid', 'n.oid')}
         and not exists (
           select
             from pg_index i
             join pg_class ic on ic.oid = i.indexrelid
            where i.indrelid = k.conrelid
              and (i.indisvalid or ic.relkind = 'i' and ic.relname !~ '${LEFT_OVER}')
              and ${findsReferences('i', 'k', version)})
         and not ${partitionsHaveIndexes(version)}
       order by rows desc nulls first, n.nspname, c.relname, k.conname
       limit ${FAULT_LIMIT + 1}
    ) bare
    join pg_namespace n on n.oid = bare.relnamespace
    join pg_class r on r.oid = bare.confrelid
    join pg_namespace rn on rn.oid = r.relnamespace
   order by bare.rows desc nulls first, table_name, constraint_name`;

/** Foreign keys without an index: each delete or key change in the referenced table scans the referencing table. */
export const fkUnindexed = relationCheck({
  id: 'PG_FK_UNINDEXED',
  title: 'Foreign key without index',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  bySize: true,
  among: 'foreign_keys',
  candidates,
  sorted: true,
  perSchema: {
    noun: 'foreign keys without an index',
    advice: 'add indexes, or each delete in the tables that they reference reads a whole table',
  },
  countMetric: 'unindexed_foreign_keys_count',
  fault: (row, { thresholds }) => {
    if (isTiny(row, thresholds)) return null;
    const table = textIn(row, 'table_name');
    const constraint = textIn(row, 'constraint_name');
    const columns = listIn(row, 'columns').join(', ');
    // A partitioned table's index can't be built concurrently.
    const how = row['partitioned'] === true ? '' : ' CONCURRENTLY';
    return {
      severity: 'info',
      object: `${table}.${constraint}`,
      metricLine: `foreign key ${constraint} of table ${table} has no index on (${columns}); add one, or every delete in ${textIn(row, 'referenced_name')} reads the whole table.`,
      remediation: `CREATE INDEX${how} ON ${table} (${columns});`,
    };
  },
  indexAdvice: (row) => ({
    action: 'create',
    table: textIn(row, 'table_name'),
    columns: listIn(row, 'columns'),
    inOrder: (columns) => ({ ...row, columns }),
  }),
  passMessage: 'Every foreign key has an index.',
});
