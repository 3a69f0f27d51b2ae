import { textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';
import { refusesRetype, retypeSteps } from './retype.ts';
import { isTiny, mayHaveRows, tableRows } from './table-rows.ts';

/** Rows of the larger of the two tables: under it no value is near the end of a type, and no conversion is felt. */
const thresholds = { minimum_rows: 10_000 };

// Most foreign keys have one type on both sides, and need no further look. A domain counts as its base type, and varchar
// as text, because they compare alike. The referencing column takes the other's type, unless both are integers and its
// own is wider; an extension's table stays as it is. A wider integer holds every value and has no collation: any other new type may refuse values or change
// more than the type.
const typed = `
    select a.attrelid, a.attnum, a.attname,
           format_type(a.atttypid, a.atttypmod) as type_name,
           case when base.oid = 'varchar'::regtype then 'text'::regtype else base.oid end as type,
           case when base.oid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) then base.typlen end as bytes
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      join pg_type base on base.oid = coalesce(nullif(t.typbasetype, 0), t.oid)`;

const widensReferenced = `own.bytes > other.bytes
               and ${notOfExtension('k.confrelid', '(select relnamespace from pg_class where oid = k.confrelid)')}`;

const candidates = ({ minimum_rows }: typeof thresholds) => `
  with large_key as materialized (${largeKeys(minimum_rows)}
  ), typed as not materialized (${typed}
  )
  select k.oid,
         quote_ident(n.nspname) as schema_name,
         format('%I.%I', n.nspname, c.relname) as table_name,
         quote_ident(k.conname) as constraint_name,
         format('%I.%I', rn.nspname, r.relname) as referenced_name,
         differing.columns,
         quote_literal(format('%I.%I', n.nspname, c.relname)) as literal,
         differing.integers,
         concat_ws(' ', format('ALTER TABLE %I.%I ', n.nspname, c.relname) || differing.retype || ';',
                        format('ALTER TABLE %I.%I ', rn.nspname, r.relname) || differing.retype_referenced || ';') as mend,
         greatest(${tableRows('c')}, ${tableRows('r')}) as rows, null as unseen
    from large_key k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_class r on r.oid = k.confrelid
    join pg_namespace rn on rn.oid = r.relnamespace
    cross join lateral (
      select string_agg(format('%I is %s, %I is %s', own.attname, own.type_name,
                               other.attname, other.type_name), '; ' order by place) as columns,
             string_agg(format('ALTER COLUMN %I TYPE %s', own.attname, other.type_name), ', ' order by place)
               filter (where not coalesce(${widensReferenced}, false)) as retype,
             string_agg(format('ALTER COLUMN %I TYPE %s', other.attname, own.type_name), ', ' order by place)
               filter (where ${widensReferenced}) as retype_referenced,
             coalesce(bool_and(own.bytes <> other.bytes), false) as integers
        from unnest(k.conkey, k.confkey) with ordinality as key (attnum, referenced, place)
        join typed own on own.attrelid = k.conrelid and own.attnum = key.attnum
        join typed other on other.attrelid = k.confrelid and other.attnum = key.referenced
       where own.type <> other.type
    ) differing
   where exists (select
                   from unnest(k.conkey, k.confkey) as key (attnum, referenced)
                   join pg_attribute own on own.attrelid = k.conrelid and own.attnum = key.attnum
                   join pg_attribute other on other.attrelid = k.confrelid and other.attnum = key.referenced
                  where own.atttypid <> other.atttypid)
     and differing.columns is not null
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('c.oid', 'n.oid')}
   order by rows desc nulls first, table_name, constraint_name`;

/** The foreign keys of which either table may have so many rows. */
function largeKeys(rows: number): string {
  return `
    with large as materialized (select c.oid from pg_class c where ${mayHaveRows('c', rows)})
    select k.*
      from pg_constraint k
     where k.contype = 'f'
       and k.conparentid = 0
       and (k.conrelid in (select oid from large) or k.confrelid in (select oid from large))`;
}

// Whether a column that the advice changes refuses a new type.
const details = (keys: string) => `
      with typed as not materialized (${typed}
      )
      select k.oid,
             bool_or(case when ${widensReferenced}
                       then ${refusesRetype('other.attrelid', 'other.attnum')}
                       else ${refusesRetype('own.attrelid', 'own.attnum')} end) as refused
        from ${keys}
        join pg_constraint k on k.oid = object.oid
        cross join lateral unnest(k.conkey, k.confkey) as key (attnum, referenced)
        join typed own on own.attrelid = k.conrelid and own.attnum = key.attnum
        join typed other on other.attrelid = k.confrelid and other.attnum = key.referenced
       where own.type <> other.type
       group by k.oid`;

/** Foreign keys whose columns differ in type from the referenced ones: one side overflows before the other. */
export const fkTypeMismatch = relationCheck({
  id: 'PG_FK_TYPE_MISMATCH',
  title: 'Foreign key type mismatch',
  category: 'schema',
  maxSeverity: 'info',
  thresholds,
  bySize: true,
  among: 'foreign_keys',
  candidates: (_, thresholds) => candidates(thresholds),
  details: { of: (row, thresholds) => !isTiny(row, thresholds), sql: details },
  sorted: true,
  perSchema: {
    noun: 'foreign keys with a type other than that of the column that they reference',
    advice: 'use one type on both sides',
  },
  countMetric: 'mismatched_foreign_keys_count',
  fault: (row, { thresholds }) => {
    if (isTiny(row, thresholds)) return null;
    const table = textIn(row, 'table_name');
    const constraint = textIn(row, 'constraint_name');
    return {
      severity: 'info',
      object: `${table}.${constraint}`,
      metricLine: `foreign key ${constraint} of table ${table} references ${textIn(row, 'referenced_name')} with a different type (${textIn(row, 'columns')}); use one type on both sides.`,
      remediation: retype(row, textIn(row, 'mend')),
    };
  },
  passMessage: 'Every foreign key has the types of the columns that it references.',
});

function retype(row: Row, statements: string): string {
  if (row['refused'] === true) return retypeSteps(textIn(row, 'literal'), statements);
  if (row['integers'] === true) return statements;
  return `SELECT column_name, data_type, collation_name, column_default FROM information_schema.columns WHERE format('%I.%I', table_schema, table_name) = ${textIn(row, 'literal')}; -- then check that the other type holds every value, and run ${statements}`;
}
