import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { counted, duration, size } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { HAS_STANDBYS } from './backups.ts';
import { notOfExtension } from './extension-objects.ts';
import { findsReferences, isEnforced } from './foreign-key-index.ts';
import { relationCheck } from './relation-check.ts';

/** Bytes; days that scans must have been counted, so that monthly reports are included. */
const thresholds = { minimum_bytes: 10 * 1024 * 1024, statistics_days: 35 };
const DAY = 24 * 3600;

// A partition's index can't be dropped alone, and its parent has no scans: both are left out. The largest are chosen first,
// so that only they are named, and the scans of smaller ones are not asked for.
const candidates = `
  select largest.oid,
         format('%I.%I', n.nspname, largest.relname) as index_name,
         quote_literal(format('%I.%I', n.nspname, largest.relname)) as literal,
         format('%I.%I', n.nspname, t.relname) as table_name,
         largest.relpages::float8 * current_setting('block_size')::float8 as bytes,
         standby.any as standbys,
         null as unseen
    from (
      select *
        from (
          select c.oid, c.relname, c.relnamespace, c.relpages, i.indrelid
            from pg_index i
            join pg_class c on c.oid = i.indexrelid
            join pg_namespace n on n.oid = c.relnamespace
           where i.indisvalid
             and not i.indisunique
             and not i.indisexclusion
             and not i.indisreplident
             and not i.indisclustered
             and c.relkind = 'i'
             and not c.relispartition
             and c.relpersistence <> 't'
             and n.nspname !~ '^pg_'
             and n.nspname <> 'information_schema'
             and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
             and ${notOfExtension('i.indrelid', 'n.oid')}
           order by c.relpages desc, n.nspname, c.relname
          offset 0
        ) by_size
       where pg_stat_get_numscans(oid) = 0
       limit ${FAULT_LIMIT + 1}
    ) largest
    join pg_namespace n on n.oid = largest.relnamespace
    join pg_class t on t.oid = largest.indrelid
    cross join (select ${HAS_STANDBYS} as any) standby
   order by largest.relpages desc, index_name`;

// The foreign keys that an index serves, each with the other indexes that serve it.
const details = (indexes: string, version: number): string => `
      select own.indexrelid as oid,
             (select coalesce(json_agg(array(
                       select format('%I.%I', n.nspname, oc.relname)
                         from pg_index other
                         join pg_class oc on oc.oid = other.indexrelid
                         join pg_namespace n on n.oid = oc.relnamespace
                        where other.indrelid = own.indrelid and other.indexrelid <> own.indexrelid
                          and other.indisvalid
                          and ${findsReferences('other', 'k', version)}
                        order by oc.relpages, oc.relname)), '[]')
                from pg_constraint k
               where k.conrelid = own.indrelid and k.contype = 'f' and ${isEnforced('k', version)}
                 and ${findsReferences('own', 'k', version)}) as purposes
        from ${indexes}
        join pg_index own on own.indexrelid = object.oid`;

/** Large indexes that no query has used for over a month: they cost disk space, and time on every write. */
export const unusedIndex = relationCheck({
  id: 'PG_UNUSED_INDEX',
  title: 'Unused index',
  category: 'indexes',
  maxSeverity: 'info',
  thresholds,
  bySize: true,
  candidates: () => candidates,
  details: { of: (row, { minimum_bytes }) => numberIn(row, 'bytes') >= minimum_bytes, sql: details },
  sorted: true,
  countsAsPrimary: true,
  blind: ({ standby, trackCounts, countedSeconds }, facts) => {
    const { statistics_days } = facts.thresholds;
    if (standby) return 'Not measured: a standby counts only its own scans; watch its primary.';
    if (!trackCounts) return 'Not measured: scans are not counted while track_counts is off.';
    if (countedSeconds >= statistics_days * DAY) return undefined;
    return `Not measured: scans have been counted for ${duration(countedSeconds)}, since the statistics were reset or lost, or the server was started or promoted; it takes ${statistics_days} days.`;
  },
  countMetric: 'unused_indexes_count',
  measure: (row, { thresholds }) => ({
    ...atLeast('unused_index_bytes', thresholds.minimum_bytes),
    object: textIn(row, 'index_name'),
    value: numberIn(row, 'bytes'),
  }),
  fault: (row, facts, { countedSeconds }) => {
    const { minimum_bytes } = facts.thresholds;
    const days = Math.floor(countedSeconds / DAY);
    const bytes = numberIn(row, 'bytes');
    if (bytes < minimum_bytes) return null;
    const index = textIn(row, 'index_name');
    const standbys = row['standbys'] === true || (facts.expectedStandbys ?? 0) > 0;
    const advice = standbys ? 'its standbys count their own scans: check there too, then drop it' : 'drop it';
    return {
      severity: 'info',
      object: index,
      metricLine: `index ${index} on ${textIn(row, 'table_name')}: ${size(bytes)}, 0 scans in ${counted(days, 'day')}; ${advice}.`,
      remediation: standbys
        ? `SELECT idx_scan FROM pg_stat_all_indexes WHERE indexrelid = ${textIn(row, 'literal')}::regclass; -- on each standby; then, if it is 0 everywhere, DROP INDEX CONCURRENTLY ${index}; on the primary`
        : `DROP INDEX CONCURRENTLY ${index};`,
    };
  },
  indexAdvice: (row) => ({
    action: 'drop',
    because: 'unused',
    index: textIn(row, 'index_name'),
    purposes: purposesIn(row),
  }),
  passMessage: 'Every large index is used.',
});

function purposesIn({ purposes }: Row): string[][] {
  return Array.isArray(purposes) ? purposes.map((names) => [names].flat().map(String)) : [];
}
