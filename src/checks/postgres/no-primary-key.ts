import { textIn, textOrNone } from '../columns.ts';
import { relationCheck } from './relation-check.ts';

// unique_columns: the columns of a unique index that could be the key unchanged. A partitioned table's key must
// contain the partitioning columns, which is impossible if one of them is an expression (attnum 0).
const candidates = (version: number): string => `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         c.relkind = 'p' as partitioned,
         published.any as published,
         (select min(keys.columns)
            from pg_index i
            cross join lateral (
              select string_agg(quote_ident(a.attname), ', ' order by place) as columns,
                     coalesce(bool_and(a.attnotnull), false) as not_null
                from unnest(i.indkey::int2[]) with ordinality as key (attnum, place)
                left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = key.attnum and a.attnum > 0
               where place <= i.indnkeyatts
            ) keys
           where i.indrelid = c.oid
             and i.indisunique and i.indisvalid and i.indimmediate
             and i.indpred is null and i.indexprs is null
             and keys.not_null) as unique_columns,
         (select a.attname from pg_attribute a
           where a.attrelid = c.oid and a.attname = 'id' and not a.attisdropped) as id_column,
         (select case when bool_or(key.attnum = 0) then '' else
                   string_agg(quote_ident(a.attname), ', ' order by place) filter (where a.attname <> 'id') end
            from pg_partitioned_table p
            cross join lateral unnest(p.partattrs::int2[]) with ordinality as key (attnum, place)
            left join pg_attribute a on a.attrelid = c.oid and a.attnum = key.attnum and a.attnum > 0
           where p.partrelid = c.oid) as partition_columns,
         count(*) over ()::float8 as total, null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select c.relpersistence = 'p' and (
               exists (select from pg_publication p where p.puballtables)
               or exists (select from pg_publication_rel p where p.prrelid = c.oid)
               ${version >= 150_000 ? 'or exists (select from pg_publication_namespace p where p.pnnspid = n.oid)' : ''}
             ) as any
    ) published
   where c.relkind in ('r', 'p')
     and not c.relispartition
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and not exists (select from pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
   order by published.any desc, c.reltuples desc, table_name`;

/** Tables without a row identity; if they are published, updates and deletes fail or are slow. */
export const noPrimaryKey = relationCheck({
  id: 'PG_NO_PRIMARY_KEY',
  title: 'Table without primary key',
  category: 'schema',
  maxSeverity: 'warning',
  candidates,
  countMetric: 'tables_without_primary_key_count',
  fault: (row) => {
    const table = textIn(row, 'table_name');
    const published = row['published'] === true;
    return {
      severity: published ? 'warning' : 'info',
      object: table,
      metricLine: `table ${table} has no primary key${published ? ' and is published: subscribers can not apply its updates and deletes by key' : ''}; add one.`,
      remediation: addKey(
        table,
        textOrNone(row, 'unique_columns'),
        textOrNone(row, 'id_column'),
        textOrNone(row, 'partition_columns'),
      ),
    };
  },
  passMessage: 'Every table has a primary key.',
});

function addKey(table: string, unique?: string, id?: string, partitionedBy?: string): string {
  if (unique !== undefined) return `ALTER TABLE ${table} ADD PRIMARY KEY (${unique});`;
  if (partitionedBy === '') {
    return `-- ${table} is partitioned by an expression: partition it by columns, then add a primary key`;
  }
  const columns = ['id', ...(partitionedBy === undefined ? [] : [partitionedBy])].join(', ');
  if (id !== undefined) return `ALTER TABLE ${table} ADD PRIMARY KEY (${columns});`;
  return `ALTER TABLE ${table} ADD COLUMN id bigserial, ADD PRIMARY KEY (${columns});`;
}
