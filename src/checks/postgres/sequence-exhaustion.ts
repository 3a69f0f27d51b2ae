import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textIn, textOrNone } from '../columns.ts';
import type { Row } from '../fault.ts';
import { percent } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';
import { isUsedElsewhere, refusesRetype, retypeSteps } from './retype.ts';

/** Shares of the values that the sequence, or a column that it fills, can have. */
const thresholds = { warning: 0.85, critical: 0.95 };

// Before 18 reading a sequence takes ROW EXCLUSIVE on it until the end of the transaction, and an entry in the server's
// lock table: only those with the least room are read.
const READ_BEFORE_18 = 500;

// Reading one takes about 0.1 ms, and a page of the buffer cache. A statement may take 5 s.
const READ_SECONDS = 2;

// At a million values a second it lasts 285 years: such a sequence may be left out if not all can be read.
const AMPLE_ROOM = 2 ** 53;

const BIGINT_MOST = '9223372036854775807';

// The columns that the sequence `alias`.oid fills: those that own it (a, i) and those whose default uses it (n, by pg_attrdef).
const filledBy = (alias: string) => `
    select d.refobjid as relation, d.refobjsubid as attnum
      from pg_depend d
     where d.classid = 'pg_class'::regclass and d.objid = ${alias}.oid and d.refclassid = 'pg_class'::regclass
       and d.deptype in ('a', 'i') and d.refobjsubid > 0
    union
    select f.adrelid, f.adnum
      from pg_depend d
      join pg_attrdef f on f.oid = d.objid
     where d.classid = 'pg_attrdef'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = ${alias}.oid`;

// The type of a column `a` of type `t`, if it holds fewer whole numbers than a bigint, its largest one, and the type that holds
// more. A domain has the output function of what it is based on, also through other domains; its modifier, if it has any, counts.
const narrow = `lateral (
          select (t.typoutput = 'numeric_out'::regproc) as is_numeric,
                 nullif(case when a.atttypmod >= 0 then a.atttypmod else t.typtypmod end, -1) - 4 as modifier
        ) kind
        cross join lateral (
          select modifier >> 16 & 65535 as digits, (modifier & 2047 # 1024) - 1024 as decimals
        ) numbers
        cross join lateral (
          select case when is_numeric then repeat('9', least(greatest(digits - decimals, 1), 19))::numeric
                      else case t.typoutput when 'int2out'::regproc then 32767 when 'int4out'::regproc then 2147483647
                                            when 'float4out'::regproc then 16777216 end end as most,
                 case when is_numeric then format('numeric(%s,%s)', 19 + greatest(decimals, 0), greatest(decimals, 0))
                      else 'bigint' end as wider
        ) narrow`;

// The statements that widen the columns which a sequence fills, and a table that refuses. The columns of a partition, and
// others that are inherited, change with those of their parents, if the sequence fills all of these.
const widening = (sequence: string) => `
      with filled as (${filledBy(sequence)}
      ), narrowed as (
        select n.nspname, c.relname, a.attname, a.attinhcount, narrow.wider,
               case when a.attinhcount > 0
                     and a.attinhcount = (select count(*)
                                            from filled parent
                                            join pg_inherits h on h.inhparent = parent.relation and h.inhrelid = a.attrelid
                                            join pg_attribute pa on pa.attrelid = parent.relation and pa.attnum = parent.attnum
                                                                and pa.attname = a.attname)
                    then ${isUsedElsewhere('a.attrelid', 'a.attnum')}
                    else ${refusesRetype('a.attrelid', 'a.attnum')} end as refuses
          from filled
          join pg_attribute a on a.attrelid = filled.relation and a.attnum = filled.attnum
          join pg_class c on c.oid = a.attrelid
          join pg_namespace n on n.oid = c.relnamespace
          join pg_type t on t.oid = a.atttypid
         cross join ${narrow}
         where narrow.most < ${BIGINT_MOST}
      )
      select string_agg(format('ALTER TABLE %I.%I ALTER COLUMN %I TYPE %s;', nspname, relname, attname, wider), ' '
                        order by nspname, relname) filter (where attinhcount = 0) as widen,
             min(quote_literal(format('%I.%I', nspname, relname))) filter (where refuses) as refusing
        from narrowed`;

// A sequence is read under a lock, so one that is being changed waits for the next run; without a privilege its value is null.
const locked = `
    select distinct l.relation as sequence
      from pg_locks l
      join pg_database d on d.oid = l.database and d.datname = current_database()
     where l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`;

const sequences = `
    select c.oid, c.relname, n.nspname, s.seqmin, s.seqmax, s.seqstart,
           s.seqincrement > 0 as rising,
           has_sequence_privilege(c.oid, 'select, usage') as readable,
           locked.sequence is not null as locked,
           s.seqmax not in (32767, 2147483647, 9223372036854775807) and s.seqincrement > 0
             or s.seqmin not in (-32768, -2147483648, -9223372036854775808) and s.seqincrement < 0 as bounded,
           row_number() over (order by case when s.seqincrement > 0 then s.seqmax else -1 - s.seqmin end,
                                       owner.tuples desc nulls last) as place
      from pg_sequence s
      join pg_class c on c.oid = s.seqrelid
      join pg_namespace n on n.oid = c.relnamespace
      left join locked on locked.sequence = c.oid
      cross join lateral (
        select max(t.reltuples) as tuples
          from pg_depend d
          join pg_class t on t.oid = d.refobjid
         where d.classid = 'pg_class'::regclass and d.objid = s.seqrelid and d.deptype in ('a', 'i')
           and d.refclassid = 'pg_class'::regclass
      ) owner
     where not s.seqcycle
       and c.relpersistence <> 't'
       and (c.relpersistence = 'p' or not pg_is_in_recovery())
       and n.nspname !~ '^pg_'
       and n.nspname <> 'information_schema'
       and ${notOfExtension('c.oid', 'c.relnamespace')}`;

// Those with the least room of their own come first, and of them those of the largest tables, until the time is over:
// `place > 0` makes PostgreSQL look at the clock for each. Only of those that are read it looks for the columns.
const read = (version: number) => `
    select *, abs(last - seqstart::numeric) as room
      from (select * from sequence order by place) ordered
      cross join lateral (
        select ${version >= 180_000 ? `ordered.place > 0 and clock_timestamp() < statement_timestamp() + interval '${READ_SECONDS} s'` : `place <= ${READ_BEFORE_18}`} as chosen
        offset 0
      ) choice
      cross join lateral (
        select case when readable and not locked and chosen then ${lastValue(version)} end as value offset 0
      ) now
      cross join lateral (
        select case when value is not null then (
                 select min(narrow.most)
                   from (${filledBy('ordered')}
                        ) filled
                   join pg_attribute a on a.attrelid = filled.relation and a.attnum = filled.attnum
                   join pg_type t on t.oid = a.atttypid
                  cross join ${narrow}
                  where narrow.most < ${BIGINT_MOST}) end as most
        offset 0
      ) columns
      cross join lateral (
        select case when rising then seqmin else seqmax end as first,
               case when rising then least(seqmax, most) else greatest(seqmin, -1 - most) end as last
      ) bound`;

const worst = (version: number) => `
    select *,
           case when first >= 0 and last > 0 and rising or first < 0 and last < 0 and not rising
                  then value::numeric / last
                else coalesce((value::numeric - first) / nullif(last::numeric - first, 0), 1)
           end::float8 as share,
           case when not readable then 'Not measured: the values of some sequences are hidden.'
                when locked then 'Not measured: a sequence was being changed.'
                when not chosen then 'Not measured: ${version >= 180_000 ? `reading all sequences takes more than ${READ_SECONDS} s` : `more than ${READ_BEFORE_18} narrow sequences, each locked when read before PostgreSQL 18`}.'
           end as unseen
      from read
     where value is not null or not readable or locked or not chosen and room < ${AMPLE_ROOM}
     order by unseen nulls first, share desc, nspname, relname
     limit ${FAULT_LIMIT + 1}`;

const candidates = (version: number) => `
  with locked as (${locked}
  ), sequence as materialized (${sequences}
  ), read as (${read(version)}
  ), worst as (${worst(version)}
  )
  select oid, format('%I.%I', nspname, relname) as sequence_name, rising, last::text as limit_value, value::text, share, bounded,
         bounded and case when rising then seqmax < coalesce(most, ${BIGINT_MOST})
                           else seqmin > coalesce(-1 - most, -9223372036854775808) end as own_limit,
         unseen, coalesce(readable and not locked and not chosen, false) as skipped_for_size,
         case when not readable
                then format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %s TO %I;',
                            (select string_agg(distinct quote_ident(nspname), ', ') from sequence where not readable),
                            current_user)
         end as needs
    from worst
   order by unseen nulls first, share desc, sequence_name`;

function lastValue(version: number): string {
  return version >= 180_000
    ? '(select case when is_called then last_value end from pg_get_sequence_data(oid))'
    : 'pg_sequence_last_value(oid)';
}

/** Sequences with few values left, in the sequence itself or in a column that it fills. */
export const sequenceExhaustion = relationCheck({
  id: 'PG_SEQUENCE_EXHAUSTION',
  title: 'Sequence nearly exhausted',
  category: 'schema',
  maxSeverity: 'critical',
  thresholds,
  among: 'sequences',
  candidates,
  details: {
    of: (row, { warning }) => numberIn(row, 'share') >= warning,
    sql: (sequences) => `
      select object.oid, widening.*
        from ${sequences}
        cross join lateral (${widening('object')}
             ) widening`,
  },
  withoutTables: true,
  countMetric: 'nearly_exhausted_sequences_count',
  measure: (row, { thresholds }) => ({
    ...atLeast('sequence_used_ratio', thresholds.warning, thresholds.critical),
    limit: 1,
    grows: true,
    object: textIn(row, 'sequence_name'),
    value: numberIn(row, 'share'),
  }),
  fault: (row, facts) => {
    const { warning, critical } = facts.thresholds;
    const share = numberIn(row, 'share');
    if (share < warning) return null;
    const sequence = textIn(row, 'sequence_name');
    return {
      severity: share >= critical ? 'critical' : 'warning',
      object: sequence,
      metricLine: `sequence ${sequence} is at ${textIn(row, 'value')} of ${textIn(row, 'limit_value')} (${percent(share)}); ${advice(row)} before inserts fail.`,
      remediation: widenStatements(row, sequence),
    };
  },
  passMessage: 'No sequence is nearly exhausted.',
});

function advice(row: Row): string {
  if (row['own_limit'] !== true)
    return textOrNone(row, 'widen')?.includes(' TYPE numeric')
      ? 'widen its columns'
      : 'make its columns bigint';
  const bound = sequenceBound(row);
  return `its own ${bound} stops it before its column is full: ${bound === 'MAXVALUE' ? 'raise' : 'lower'} that`;
}

function widenStatements(row: Row, sequence: string): string {
  const bound = sequenceBound(row);
  const look = `SELECT * FROM ${sequence}; -- then find out why the sequence was given a limit of its own; if nothing needs it, run`;
  if (row['own_limit'] === true) return `${look} ALTER SEQUENCE ${sequence} NO ${bound};`;
  const statements = [textOrNone(row, 'widen'), `ALTER SEQUENCE ${sequence} AS bigint NO ${bound};`]
    .join(' ')
    .trim();
  const refusing = textOrNone(row, 'refusing');
  if (refusing !== undefined) return retypeSteps(refusing, statements);
  if (row['bounded'] !== true) return statements;
  return `${look} ${statements}`;
}

function sequenceBound(row: Row): 'MAXVALUE' | 'MINVALUE' {
  return row['rising'] === true ? 'MAXVALUE' : 'MINVALUE';
}
