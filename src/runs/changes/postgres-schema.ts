import { type Ask, type Fact, type Reading, textOf } from './facts.ts';
import { type Redact, redactDefault } from './redact.ts';
import { SCHEMA_LIMITS, schemaReadings, skippedSchema } from './schema-limits.ts';

// All of this reads the catalogs only. pg_get_indexdef, pg_get_constraintdef, and pg_get_expr with a table open the table, so they
// wait behind ACCESS EXCLUSIVE: an expression is therefore shown as a hash. A default needs no table. Of a partition only
// the name is read, because it is as its parent.
const COLUMNS = `
      select 'column', concat(t.name, '.', quote_ident(a.attname)),
             concat(format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end,
                    case when a.attidentity <> '' then ' identity' end,
                    case when a.attgenerated <> '' then concat(' generated ', left(md5(d.adbin::text), 8))
                         when d.adbin is not null then concat(' default ', left(pg_get_expr(d.adbin, 0), 800)) end),
             t.name
        from whole t
        join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
        left join pg_attrdef d on a.atthasdef and d.adrelid = a.attrelid and d.adnum = a.attnum`;

const INDEXES = `
      select 'index', concat(quote_ident(n.nspname), '.', quote_ident(c.relname)),
             concat(case when i.indisunique then 'unique ' end, m.amname, ' on ', t.name, ' (',
                    (select string_agg(concat(case when k.attnum = 0 then concat('expression ', left(md5(i.indexprs::text), 8))
                                                   else quote_ident(a.attname) end,
                                              case when i.indoption[k.place - 1] & 1 = 1 then ' desc' end),
                                       ', ' order by k.place)
                       from unnest(i.indkey::int2[]) with ordinality k (attnum, place)
                       left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum),
                    ')', case when i.indnatts > i.indnkeyatts then concat(', key ', i.indnkeyatts) end,
                    case when i.indpred is not null then concat(' where ', left(md5(i.indpred::text), 8)) end,
                    case when not i.indisvalid then ' invalid' end),
             t.name
        from whole t
        join pg_index i on i.indrelid = t.oid
        join pg_class c on c.oid = i.indexrelid
        join pg_namespace n on n.oid = c.relnamespace
        join pg_am m on m.oid = c.relam`;

const CONSTRAINTS = `
      select 'constraint', concat(quote_ident(o.conname), ' on ', t.name),
             concat(case o.contype when 'p' then 'primary key' when 'u' then 'unique' when 'f' then 'foreign key'
                                   when 'c' then 'check' else 'exclude' end,
                    ' (', (select string_agg(quote_ident(a.attname), ', ' order by k.place)
                             from unnest(o.conkey) with ordinality k (attnum, place)
                             join pg_attribute a on a.attrelid = o.conrelid and a.attnum = k.attnum), ')',
                    case o.contype
                      when 'c' then concat(' ', left(md5(o.conbin::text), 8))
                      when 'f' then concat(' references ', f.name, ' (',
                                           (select string_agg(quote_ident(a.attname), ', ' order by k.place)
                                              from unnest(o.confkey) with ordinality k (attnum, place)
                                              join pg_attribute a on a.attrelid = o.confrelid and a.attnum = k.attnum), ')',
                                           ' on update ', o.confupdtype, ' on delete ', o.confdeltype) end,
                    case when o.condeferrable then ' deferrable' end,
                    case when not o.convalidated then ' not valid' end),
             t.name
        from whole t
        join pg_constraint o on o.conrelid = t.oid and o.contype in ('p', 'u', 'f', 'c', 'x')
        left join t f on f.oid = o.confrelid`;

const schema = ({ milliseconds, tables, facts, bytes }: typeof SCHEMA_LIMITS) => `
  set local statement_timeout = '${milliseconds}ms';
  with t as materialized (
    select c.oid, c.relkind, c.relispartition, concat(quote_ident(n.nspname), '.', quote_ident(c.relname)) as name
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'f', 'm') and c.relpersistence <> 't'
       and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
     limit ${tables + 1}
  ), whole as materialized (
    select oid, name from t where not relispartition
  ), fact (kind, subject, value, parent) as materialized (
    select * from (
      select 'table', name,
             concat(case relkind when 'r' then 'table' when 'p' then 'partitioned table' when 'f' then 'foreign table'
                                 else 'materialized view' end,
                    case when relispartition then ', a partition' end), null
        from t
      union all
      ${COLUMNS}
      union all
      ${INDEXES}
      union all
      ${CONSTRAINTS}
      union all
      select 'trigger', concat(quote_ident(g.tgname), ' on ', t.name),
             case g.tgenabled when 'O' then 'enabled' when 'D' then 'disabled' when 'R' then 'enabled on replicas'
                              else 'always enabled' end,
             t.name
        from whole t
        join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
    ) f
    limit ${facts + 1}
  ), size as (
    select (select count(*) from t)::int as tables, count(*)::int as facts,
           coalesce(sum(octet_length(subject) + octet_length(value)), 0)::float8 as bytes
      from fact
  )
  select tables, facts, bytes,
         case when tables <= ${tables} and facts <= ${facts} and bytes <= ${bytes}
              then (select json_agg(json_build_array(kind, subject, value, parent)) from fact) end as list
    from size`;

/** Reads the tables, columns, indexes, constraints and triggers of a PostgreSQL database; says why, if it can't. */
export async function readPostgresSchema(ask: Ask, redact: Redact, database: string): Promise<Reading[]> {
  const [row] = (await ask(schema(SCHEMA_LIMITS))) ?? [];
  if (!row) return skippedSchema(database, `it could not be read within ${SCHEMA_LIMITS.milliseconds} ms`);
  const list: unknown = row['list'];
  if (Number(row['tables']) > SCHEMA_LIMITS.tables)
    return skippedSchema(database, `it has more than ${SCHEMA_LIMITS.tables} tables`);
  if (Number(row['facts']) > SCHEMA_LIMITS.facts)
    return skippedSchema(
      database,
      `it has more than ${SCHEMA_LIMITS.facts} columns, indexes and constraints`,
    );
  if (Number(row['bytes']) > SCHEMA_LIMITS.bytes) return skippedSchema(database, 'it is larger than 4 MB');
  const facts = (Array.isArray(list) ? list : []).flatMap((each): Fact[] => {
    const [kind, subject, value, parent] = Array.isArray(each) ? each.map(textOf) : [];
    if (subject === undefined || value === undefined || !isSchemaKind(kind)) return [];
    const shown = kind === 'column' ? redactDefault(subject, value, redact) : value;
    return [[kind, subject, shown, parent ? { of: parent } : {}]];
  });
  return schemaReadings(database, facts);
}

const KINDS = ['table', 'column', 'index', 'constraint', 'trigger'] as const;

function isSchemaKind(kind: string | undefined): kind is (typeof KINDS)[number] {
  return KINDS.some((known) => known === kind);
}
