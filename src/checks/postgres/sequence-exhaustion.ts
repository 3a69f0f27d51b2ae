import { numberIn, textIn, textOrNone } from '../columns.ts';
import { percent } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { relationCheck } from './relation-check.ts';

/** Shares of the values that the sequence, or a column that it fills, can have. */
const thresholds = { warning: 0.85, critical: 0.95 };

// Before 18 reading a sequence takes ROW EXCLUSIVE on it until the end of the transaction, and an entry in the server's
// lock table: only those with the least room are read.
const READ_BEFORE_18 = 500;

// At a million values a second it lasts 285 years: such a sequence may be left out if not all can be read.
const AMPLE_ROOM = 2 ** 53;

// A sequence is read under a lock, so one that is being changed waits for the next run; without a privilege its
// value is null. Columns: those that own it (a, i) and those whose default uses it (n, by pg_attrdef).
const candidates = (version: number) => `
  with filled as (
    select d.objid as sequence, d.refobjid as relation, d.refobjsubid as attnum
      from pg_depend d
     where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
       and d.deptype in ('a', 'i') and d.refobjsubid > 0
    union
    select d.refobjid, f.adrelid, f.adnum
      from pg_depend d
      join pg_attrdef f on f.oid = d.objid
     where d.classid = 'pg_attrdef'::regclass and d.refclassid = 'pg_class'::regclass
  ), room as (
    select filled.sequence,
           min(narrow.most) as most,
           string_agg(format('ALTER TABLE %I.%I ALTER COLUMN %I TYPE bigint;', n.nspname, c.relname, a.attname), ' '
                      order by n.nspname, c.relname) as widen
      from filled
      join pg_attribute a on a.attrelid = filled.relation and a.attnum = filled.attnum
      join pg_class c on c.oid = a.attrelid
      join pg_namespace n on n.oid = c.relnamespace
      join pg_type t on t.oid = a.atttypid
      join (values ('int2'::regtype, 32767), ('int4'::regtype, 2147483647)) as narrow (type, most)
        on narrow.type = coalesce(nullif(t.typbasetype, 0), t.oid)
     group by filled.sequence
  ), locked as (
    select distinct l.relation as sequence
      from pg_locks l
      join pg_database d on d.oid = l.database and d.datname = current_database()
     where l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  ), sequence as (
    select c.oid,
           format('%I.%I', n.nspname, c.relname) as sequence_name,
           n.nspname,
           s.seqincrement > 0 as rising,
           case when s.seqincrement > 0 then s.seqmin else s.seqmax end as first,
           bound.last,
           abs(bound.last - s.seqstart::numeric) as room,
           has_sequence_privilege(c.oid, 'select, usage') as readable,
           locked.sequence is not null as locked,
           room.widen
      from pg_sequence s
      join pg_class c on c.oid = s.seqrelid
      join pg_namespace n on n.oid = c.relnamespace
      left join room on room.sequence = c.oid
      left join locked on locked.sequence = c.oid
      cross join lateral (
        select case when s.seqincrement > 0 then least(s.seqmax, room.most) else greatest(s.seqmin, -1 - room.most)
               end as last
      ) bound
     where not s.seqcycle
       and c.relpersistence <> 't'
       and (c.relpersistence = 'p' or not pg_is_in_recovery())
       and n.nspname !~ '^pg_'
       and n.nspname <> 'information_schema'
  ), chosen as (
    select *, ${version >= 180_000 ? 'true' : `row_number() over (order by room) <= ${READ_BEFORE_18}`} as chosen from sequence
  )
  select sequence_name, rising, last::text as limit_value, value::text, widen,
         case when first >= 0 and last > 0 and rising or first < 0 and last < 0 and not rising
                then value::numeric / last
              else coalesce((value::numeric - first) / nullif(last::numeric - first, 0), 1)
         end::float8 as share,
         case when not readable then 'Not measured: the values of some sequences are hidden.'
              when locked then 'Not measured: a sequence was being changed.'
              when not chosen then 'Not measured: more than ${READ_BEFORE_18} narrow sequences, each locked when read before PostgreSQL 18.'
         end as unseen,
         case when not readable
                then format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %s TO %I;',
                            (select string_agg(distinct quote_ident(nspname), ', ') from sequence where not readable),
                            current_user)
         end as needs
    from chosen
    cross join lateral (
      select case when readable and not locked and chosen then ${lastValue(version)} end as value
    ) now
   where value is not null or not readable or locked or not chosen and room < ${AMPLE_ROOM}
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
  candidates,
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
    const widen = textOrNone(row, 'widen');
    const bound = row['rising'] === true ? 'MAXVALUE' : 'MINVALUE';
    return {
      severity: share >= critical ? 'critical' : 'warning',
      object: sequence,
      metricLine: `sequence ${sequence} is at ${textIn(row, 'value')} of ${textIn(row, 'limit_value')} (${percent(share)}); make its columns bigint before inserts fail.`,
      remediation: `${widen === undefined ? '' : `${widen} `}ALTER SEQUENCE ${sequence} AS bigint NO ${bound};`,
    };
  },
  passMessage: 'No sequence is nearly exhausted.',
});
