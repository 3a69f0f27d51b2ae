import { listIn, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

// A concurrent build marks its index invalid until it is done, and may leave more of them on the table meanwhile.
// Only pg_monitor sees the whole progress view; for others any such lock on the table may be a build.
/** The names of what a failed REINDEX CONCURRENTLY leaves behind. */
export const LEFT_OVER = '_cc(new|old)[0-9]*$';

// The parent of a partitioned table's indexes waits for those of its partitions. If each has one that is valid, and the
// parent still is not, it got stuck: the last of them was invalid when it was attached.
const isStuck = `(exists (select from pg_inherits where inhparent = i.indexrelid)
                  and not exists (
                    select
                      from pg_inherits part
                     where part.inhparent = i.indrelid
                       and not exists (select from pg_inherits own
                                         join pg_index oi on oi.indexrelid = own.inhrelid
                                        where own.inhparent = i.indexrelid and oi.indrelid = part.inhrelid
                                          and oi.indisvalid)))`;

// Other indexes that serve what this one would: rebuilt, it would only have to be dropped. Of several invalid ones the longest
// and oldest stays, as if it were valid. All expressions of an index share one tree, so one with expressions has only twins.
const covering = `
      select array_agg(format('%I.%I', n.nspname, oc.relname) order by other.indisvalid desc, oc.relname) as names,
             bool_or(other.indisvalid) as by_valid
        from pg_index other
        join pg_class oc on oc.oid = other.indexrelid
       where other.indrelid = i.indrelid and other.indexrelid <> i.indexrelid
         and (other.indisvalid
              or oc.relkind = 'i' and oc.relname !~ '${LEFT_OVER}'
                 and (other.indnatts, other.indnkeyatts, other.indisunique, i.indexrelid)
                     > (i.indnatts, i.indnkeyatts, i.indisunique, other.indexrelid))
         and (i.indexprs is null
              or other.indnatts = i.indnatts
                 and regexp_replace(other.indexprs::text, ':location -?[0-9]+', '', 'g')
                     = regexp_replace(i.indexprs::text, ':location -?[0-9]+', '', 'g'))
         and other.indnkeyatts >= i.indnkeyatts
         and (not i.indisunique or other.indisunique and other.indnkeyatts = i.indnkeyatts)
         and (other.indkey::int2[])[0 : i.indnkeyatts - 1] = (i.indkey::int2[])[0 : i.indnkeyatts - 1]
         and (other.indclass::oid[])[0 : i.indnkeyatts - 1] = (i.indclass::oid[])[0 : i.indnkeyatts - 1]
         and (other.indcollation::oid[])[0 : i.indnkeyatts - 1] = (i.indcollation::oid[])[0 : i.indnkeyatts - 1]
         and (other.indoption::int2[])[0 : i.indnkeyatts - 1] = (i.indoption::int2[])[0 : i.indnkeyatts - 1]
         and other.indkey::int2[] @> i.indkey::int2[]
         and (other.indnkeyatts = i.indnkeyatts
              or (i.indclass::oid[])[0] in (select o.oid from pg_opclass o join pg_am am on am.oid = o.opcmethod
                                             where am.amname = 'btree'))
         and regexp_replace(other.indpred::text, ':location -?[0-9]+', '', 'g')
             is not distinct from regexp_replace(i.indpred::text, ':location -?[0-9]+', '', 'g')`;

const candidates = `
  select c.oid, format('%I.%I', n.nspname, c.relname) as index_name,
         format('%I.%I', tn.nspname, t.relname) as table_name,
         c.relname ~ '${LEFT_OVER}' as left_over,
         c.relkind = 'I' as partitioned,
         i.indisunique as is_unique,
         quote_literal(format('%I.%I', n.nspname, c.relname)) as literal,
         case when seen.whole and building.any
                then 'Not measured: an index is being built on a table with an invalid one.'
              when not seen.whole and locked.any
                then 'Not measured: an invalid index may be one under construction.'
         end as unseen,
         case when not seen.whole and locked.any then format('GRANT pg_monitor TO %I;', current_user) end as needs
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_class t on t.oid = i.indrelid
    join pg_namespace tn on tn.oid = t.relnamespace
    cross join (select pg_has_role('pg_read_all_stats', 'usage') as whole) seen
    cross join lateral (
      select exists (select from pg_stat_progress_create_index p
                      where p.datname = current_database() and p.relid = i.indrelid) as any
    ) building
    cross join lateral (
      select exists (select from pg_locks l
                      where l.database = (select oid from pg_database where datname = current_database())
                        and l.relation = i.indrelid
                        and l.mode = 'ShareUpdateExclusiveLock'
                        and l.granted) as any
    ) locked
   where not i.indisvalid
     and (c.relkind = 'i' or ${isStuck})
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('t.oid', 'tn.oid')}
     and not exists (select from pg_stat_progress_create_index p
                      where p.datname = current_database() and p.index_relid = i.indexrelid)
   order by unseen nulls first, index_name`;

const details = (indexes: string) => `
      select object.oid,
             (select format('%I.%I', pn.nspname, pc.relname)
                from pg_inherits h
                join pg_class pc on pc.oid = h.inhrelid
                join pg_namespace pn on pn.oid = pc.relnamespace
               where h.inhparent = i.indexrelid
               order by pn.nspname, pc.relname limit 1) as part_name,
             case when not i.indisexclusion and not c.relispartition
                       and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
                    then covering.names end as covering,
             coalesce(covering.by_valid, false) as covered_by_valid
        from ${indexes}
        join pg_index i on i.indexrelid = object.oid
        join pg_class c on c.oid = object.oid
        join pg_namespace n on n.oid = c.relnamespace
        cross join lateral (${covering}
        ) covering`;

/** Indexes that a failed concurrent build left behind: every write maintains them, no query uses them. */
export const invalidIndex = relationCheck({
  id: 'PG_INVALID_INDEX',
  title: 'Invalid index',
  category: 'indexes',
  maxSeverity: 'warning',
  among: 'invalid_indexes',
  candidates: () => candidates,
  details: { sql: details },
  countMetric: 'invalid_indexes_count',
  fault: (row) => {
    const index = textIn(row, 'index_name');
    const invalid = `index ${index} on ${textIn(row, 'table_name')} is invalid: no query uses it, every write maintains it`;
    return { severity: 'warning', object: index, ...advice(row, index, invalid) };
  },
  indexAdvice: (row) =>
    isCovered(row)
      ? {
          action: 'drop',
          because: 'covered',
          index: textIn(row, 'index_name'),
          purposes: [listIn(row, 'covering')],
          isInvalid: true,
        }
      : null,
  passMessage: 'No index is invalid.',
});

const isCovered = (row: Row) => row['left_over'] !== true && row['covering'] !== null;

function advice(row: Row, index: string, invalid: string): Pick<Fault, 'metricLine' | 'remediation'> {
  const drop = `DROP INDEX CONCURRENTLY ${index};`;
  if (row['partitioned'] === true)
    return {
      metricLine: `index ${index} on ${textIn(row, 'table_name')} is invalid, although each partition has a valid part of it: no query uses it as a whole; attach a part again.`,
      // It makes PostgreSQL look at all parts again (seen with 14.23 and 18.4).
      remediation: `ALTER INDEX ${index} ATTACH PARTITION ${textIn(row, 'part_name')};`,
    };
  if (row['left_over'] === true)
    return { metricLine: `${invalid}; drop what a failed REINDEX left behind.`, remediation: drop };
  if (isCovered(row)) {
    const other =
      row['covered_by_valid'] === true
        ? 'another index serves what it would'
        : `${listIn(row, 'covering')[0]}, which is invalid too, serves the same once it is rebuilt`;
    return { metricLine: `${invalid}, and ${other}; drop it.`, remediation: drop };
  }
  return {
    metricLine: `${invalid}; rebuild it, or drop it if it is not needed.`,
    remediation: rebuild(index, row),
  };
}

// A unique index is mostly invalid because of duplicate rows: each further attempt would leave one more behind.
function rebuild(index: string, row: Row): string {
  const statement = `REINDEX INDEX CONCURRENTLY ${index};`;
  if (row['is_unique'] !== true) return statement;
  return `SELECT pg_get_indexdef(${textIn(row, 'literal')}::regclass); -- then look for rows that have the same values in its columns, correct them, and run ${statement}`;
}
