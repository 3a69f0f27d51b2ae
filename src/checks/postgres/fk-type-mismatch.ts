import { textIn } from '../columns.ts';
import { relationCheck } from './relation-check.ts';

// A domain counts as its base type, and varchar as text, because they compare alike. The referencing column
// takes the other's type, unless both are integers and its own is wider.
const candidates = `
  with typed as not materialized (
    select a.attrelid, a.attnum, a.attname,
           format_type(a.atttypid, a.atttypmod) as type_name,
           case when base.oid = 'varchar'::regtype then 'text'::regtype else base.oid end as type,
           case when base.oid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) then base.typlen end as bytes
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      join pg_type base on base.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
  )
  select format('%I.%I', n.nspname, c.relname) as table_name,
         quote_ident(k.conname) as constraint_name,
         format('%I.%I', rn.nspname, r.relname) as referenced_name,
         differing.columns,
         concat_ws(' ', format('ALTER TABLE %I.%I ', n.nspname, c.relname) || differing.retype || ';',
                        format('ALTER TABLE %I.%I ', rn.nspname, r.relname) || differing.retype_referenced || ';') as mend,
         count(*) over ()::float8 as total, null as unseen
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_class r on r.oid = k.confrelid
    join pg_namespace rn on rn.oid = r.relnamespace
    cross join lateral (
      select string_agg(format('%I is %s, %I is %s', own.attname, own.type_name,
                               other.attname, other.type_name), '; ' order by place) as columns,
             string_agg(format('ALTER COLUMN %I TYPE %s', own.attname, other.type_name), ', ' order by place)
               filter (where not coalesce(own.bytes > other.bytes, false)) as retype,
             string_agg(format('ALTER COLUMN %I TYPE %s', other.attname, own.type_name), ', ' order by place)
               filter (where own.bytes > other.bytes) as retype_referenced
        from unnest(k.conkey, k.confkey) with ordinality as key (attnum, referenced, place)
        join typed own on own.attrelid = k.conrelid and own.attnum = key.attnum
        join typed other on other.attrelid = k.confrelid and other.attnum = key.referenced
       where own.type <> other.type
    ) differing
   where k.contype = 'f'
     and k.conparentid = 0
     and differing.columns is not null
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and not exists (select from pg_depend d
                      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
   order by c.reltuples desc, table_name, constraint_name`;

/** Foreign keys whose columns differ in type from the referenced ones: one side overflows before the other. */
export const fkTypeMismatch = relationCheck({
  id: 'PG_FK_TYPE_MISMATCH',
  title: 'Foreign key type mismatch',
  category: 'schema',
  maxSeverity: 'info',
  candidates: () => candidates,
  countMetric: 'mismatched_foreign_keys_count',
  fault: (row) => {
    const table = textIn(row, 'table_name');
    const constraint = textIn(row, 'constraint_name');
    return {
      severity: 'info',
      object: `${table}.${constraint}`,
      metricLine: `foreign key ${constraint} of table ${table} references ${textIn(row, 'referenced_name')} with a different type (${textIn(row, 'columns')}); use one type on both sides.`,
      remediation: textIn(row, 'mend'),
    };
  },
  passMessage: 'Every foreign key has the types of the columns that it references.',
});
