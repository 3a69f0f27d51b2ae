import { listIn, textIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';
import { isTiny, tableRows } from './table-rows.ts';

/** Rows of a table that is not published: of fewer, a person finds and mends duplicates, and reading them takes a millisecond. */
const thresholds = { minimum_rows: 10_000 };

// unique_index: one that can become the key as it is (ADD PRIMARY KEY USING INDEX), so that no second index is built. One that
// is NULLS NOT DISTINCT (since 15) can't.
// identity_index: one that can't, such as that of a unique constraint, but that identifies the rows as well as a key.
const candidates = (version: number): string => `
  with suspect as materialized (
    select c.*, n.nspname, exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) as keyed
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p')
       and not c.relispartition
       and c.relpersistence <> 't'
       and n.nspname !~ '^pg_'
       and n.nspname <> 'information_schema'
       and ${notOfExtension('c.oid', 'n.oid')}
       and (c.relkind = 'p' or c.relreplident in ('n', 'i')
            or not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary))
  )
  select c.oid,
         quote_ident(c.nspname) as schema_name,
         format('%I.%I', c.nspname, c.relname) as table_name,
         c.relkind = 'p' as partitioned,
         c.reloftype <> 0 as typed,
         published.any as published,
         published.some_keyed,
         published.unidentified,
         published.some_foreign,
         c.relreplident = 'n' as says_nothing,
         c.keyed or published.all_keyed as keyed,
         own.unique_index,
         own.identity_index,
         ${tableRows('c')} as rows, null as unseen
    from suspect c
    cross join lateral (
      select (array_agg(quote_ident(ic.relname) order by ic.oid) filter (where index.promotable))[1] as unique_index,
             (array_agg(quote_ident(ic.relname) order by ic.oid) filter (where not index.promotable))[1] as identity_index
        from pg_index i
        join pg_class ic on ic.oid = i.indexrelid
        cross join lateral (
          select bool_and(coalesce(a.attnotnull, false)${version >= 180_000 ? notNullIsValid : ''}) as not_null,
                 ic.relkind = 'i'${version >= 150_000 ? ' and not i.indnullsnotdistinct' : ''}
                 and not exists (select from pg_constraint k
                                  where k.conrelid = i.indrelid and k.conindid = ic.oid and k.contype in ('p', 'u', 'x'))
                 and bool_and(o.opcdefault and key.option = 0 and key.coll = coalesce(a.attcollation, 0)) as promotable
            from unnest(i.indkey::int2[], i.indclass::oid[], i.indcollation::oid[], i.indoption::int2[])
                 with ordinality as key (attnum, class, coll, option, place)
            left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = key.attnum and a.attnum > 0
            left join pg_opclass o on o.oid = key.class
           where place <= i.indnkeyatts
        ) index
       where i.indrelid = c.oid
         and i.indisunique and i.indisvalid and i.indisready and i.indimmediate
         and i.indpred is null and i.indexprs is null
         and index.not_null
    ) own
    cross join lateral (${partsOf(version)}
    ) published
   where cardinality(published.unidentified) > 0
      or not c.keyed and not published.all_keyed
         and (own.unique_index is not null or own.identity_index is null
              or published.any and c.relkind = 'r')
   order by published.any desc, rows desc nulls first, table_name`;

// What a new key could be made of. A partitioned table's key must contain the partitioning columns, which is impossible if one
// of them is an expression (attnum 0). keyable: types that a key of one column is made of; others may have no order, or no sense as a key.
const keyColumns = (tables: string) => `
      select object.oid, id.keyable as id_keyable, partition.columns as partition_columns,
             partition.not_null as partitioned_not_null
        from ${tables}
        left join lateral (
          select coalesce(nullif(t.typbasetype, 0), t.oid) in
                   ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'uuid'::regtype,
                    'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)
                 and a.attgenerated = '' as keyable
            from pg_attribute a
            join pg_type t on t.oid = a.atttypid
           where a.attrelid = object.oid and a.attname = 'id' and not a.attisdropped
        ) id on true
        left join lateral (
          select case when bool_or(key.attnum = 0) then '' else
                       string_agg(quote_ident(a.attname), ', ' order by place) filter (where a.attname <> 'id') end as columns,
                 bool_and(coalesce(a.attnotnull, false)) as not_null
            from pg_partitioned_table p
            cross join lateral unnest(p.partattrs::int2[]) with ordinality as key (attnum, place)
            left join pg_attribute a on a.attrelid = object.oid and a.attnum = key.attnum and a.attnum > 0
           where p.partrelid = object.oid
        ) partition on true`;

// PostgreSQL asks each partition for its replica identity, and each can be published alone. `any`: updates and deletes of the
// table, or of a partition, fail. A table of its own counts as its only part. `unidentified`: parts whose primary key does not
// help, because their replica identity is NOTHING, or an index that was dropped.
function partsOf(version: number): string {
  return `
      with recursive part (oid, relnamespace, relname, relkind, relpersistence, relreplident, published) as (
        select c.oid, c.relnamespace, c.relname, c.relkind, c.relpersistence, c.relreplident,
               ${isPublished('c', version)}
         union all
        select p.oid, p.relnamespace, p.relname, p.relkind, p.relpersistence, p.relreplident,
               part.published or ${isPublished('p', version)}
          from part
          join pg_inherits h on h.inhparent = part.oid
          join pg_class p on p.oid = h.inhrelid and p.relispartition
      )
      select coalesce(bool_or(part.published and part.relpersistence = 'p' and part.relreplident <> 'f'
                              and not coalesce(case part.relreplident when 'd' then key.primary when 'i' then key.identity end, false)),
                      false) as any,
             coalesce(bool_and(coalesce(key.primary, false)), false) as all_keyed,
             coalesce(bool_or(key.primary), false) as some_keyed,
             (select coalesce(bool_or(relkind = 'f'), false) from part) as some_foreign,
             coalesce((array_agg(format('%I.%I', ns.nspname, part.relname) order by part.oid)
                        filter (where part.published and part.relpersistence = 'p' and key.primary
                                  and (part.relreplident = 'n' or part.relreplident = 'i' and key.identity is not true)))[:20],
                      array[]::text[]) as unidentified
        from part
        join pg_namespace ns on ns.oid = part.relnamespace
        left join lateral (
          select bool_or(i.indisprimary) as primary, bool_or(i.indisreplident) as identity
            from pg_index i
           where i.indrelid = part.oid and i.indisvalid and i.indimmediate
        ) key on true
       where part.relkind = 'r'`;
}

/** Condition: a publication sends updates or deletes of a table (`alias`, a row of pg_class). */
function isPublished(alias: string, version: number): string {
  return `exists (select from pg_publication sent
                          where (sent.pubupdate or sent.pubdelete)
                            and (sent.puballtables
                                 or exists (select from pg_publication_rel r where r.prpubid = sent.oid and r.prrelid = ${alias}.oid)
                                 ${version >= 150_000 ? `or exists (select from pg_publication_namespace s where s.pnpubid = sent.oid and s.pnnspid = ${alias}.relnamespace)` : ''}))`;
}

// Since 18 a not-null constraint may be added NOT VALID.
const notNullIsValid = `
                          and not exists (select from pg_constraint k
                                           where k.conrelid = a.attrelid and k.contype = 'n' and not k.convalidated
                                             and k.conkey[1] = a.attnum)`;

/** Tables without a row identity; if they are published, updates and deletes fail or are slow. */
export const noPrimaryKey = relationCheck({
  id: 'PG_NO_PRIMARY_KEY',
  title: 'Table without primary key',
  category: 'schema',
  maxSeverity: 'warning',
  thresholds,
  bySize: true,
  candidates,
  details: {
    of: (row, thresholds) => row['published'] === true || !isTiny(row, thresholds),
    sql: keyColumns,
  },
  sorted: true,
  perSchema: { noun: 'tables without a primary key', advice: 'add primary keys' },
  countMetric: 'tables_without_primary_key_count',
  fault: (row, { thresholds }) => {
    const published = row['published'] === true;
    if (!published && isTiny(row, thresholds)) return null;
    const table = textIn(row, 'table_name');
    if (row['keyed'] === true) return unidentified(table, row);
    return {
      severity: published ? 'warning' : 'info',
      object: table,
      metricLine: `table ${table} has no primary key${published ? ' and is published, so its updates and deletes fail' : ''}; add one.`,
      remediation: addKey(table, row),
    };
  },
  indexAdvice: (row) => {
    const index = textOrNone(row, 'unique_index') ?? textOrNone(row, 'identity_index');
    if ([row['some_keyed'], row['keyed'], row['some_foreign']].includes(true)) return null;
    if (index !== undefined) return { action: 'keep', index: `${textIn(row, 'schema_name')}.${index}` };
    return isIdKey(row) ? { action: 'key', table: textIn(row, 'table_name'), columns: ['id'] } : null;
  },
  passMessage: 'Every table that is large or published has a primary key.',
});

/** A published table with a primary key that its replica identity does not use. */
function unidentified(table: string, row: Row): Fault {
  const parts = listIn(row, 'unidentified');
  const isAlone = parts.length === 1 && parts[0] === table;
  const subject = isAlone
    ? `table ${table} is published and has a primary key, but its replica identity`
    : `table ${table} has a primary key, but the replica identity of published partitions (${parts.slice(0, 3).join(', ')}${parts.length > 3 ? ' and others' : ''})`;
  const ofTable = row['says_nothing'] === true ? 'is NOTHING' : 'is an index that was dropped';
  const identity = isAlone ? ofTable : 'is NOTHING or an index that was dropped';
  return {
    severity: 'warning',
    object: table,
    metricLine: `${subject} ${identity}, so updates and deletes fail; set it to DEFAULT, which is the primary key.`,
    remediation: parts.map((part) => `ALTER TABLE ${part} REPLICA IDENTITY DEFAULT;`).join(' '),
  };
}

/** Whether the advice is a key that begins with the column `id`. */
function isIdKey(row: Row): boolean {
  return row['id_keyable'] === true && row['typed'] !== true && textOrNone(row, 'partition_columns') !== '';
}

function addKey(table: string, row: Row): string {
  if (row['some_keyed'] === true)
    return 'Give each partition without a primary key one of its own, as the others have. The table can have none while they do.';
  if (row['some_foreign'] === true)
    return 'Give each partition that is stored here a primary key of its own. The table can have none while some partitions are foreign tables.';
  const unique = textOrNone(row, 'unique_index');
  // A new key helps a published table only if its replica identity is the key.
  const identified =
    row['says_nothing'] === true && row['published'] === true ? ', REPLICA IDENTITY DEFAULT' : '';
  if (unique !== undefined) return `ALTER TABLE ${table} ADD PRIMARY KEY USING INDEX ${unique}${identified};`;
  const identity = textOrNone(row, 'identity_index');
  if (identity !== undefined) return `ALTER TABLE ${table} REPLICA IDENTITY USING INDEX ${identity};`;
  const partitionedBy = textOrNone(row, 'partition_columns');
  if (partitionedBy === '')
    return 'Partition the table by columns instead of an expression, then add a primary key that contains them.';
  const columns = ['id', ...(partitionedBy === undefined ? [] : [partitionedBy])].join(', ');
  const add = `ADD PRIMARY KEY (${columns})${identified};`;
  if (row['id_keyable'] === false || row['typed'] === true)
    return 'Choose columns that identify each row, and make them the primary key. The table has no column that can be the key as it is.';
  if (isIdKey(row)) {
    return `SELECT count(*), count(*) FILTER (WHERE ROW(${columns}) IS NOT NULL), count(DISTINCT ROW(${columns})) FROM ${table}; -- then, if all three are equal: ALTER TABLE ${table} ${add} otherwise correct the rows first`;
  }
  const addBoth = `ALTER TABLE ${table} ADD COLUMN id bigserial, ${add}`;
  if (partitionedBy === undefined || row['partitioned_not_null'] === true) return addBoth;
  return `SELECT count(*) FROM ${table} WHERE ROW(${partitionedBy}) IS NOT NULL IS NOT TRUE; -- then, if it is 0: ${addBoth}`;
}
