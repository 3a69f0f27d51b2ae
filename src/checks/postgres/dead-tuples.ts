import { numberIn, textIn } from '../columns.ts';
import { grouped, percent } from '../wording.ts';
import { atLeast, uncompared } from '../worst-measures.ts';
import { AUTOVACUUM_TIME, autovacuumColumns, hasHadTime, keepTimes, lastLook } from './autovacuum-time.ts';
import { relationCheck } from './relation-check.ts';

/** Rows, and dead rows ÷ all rows; under the minimum the share says nothing (common Prometheus rules). */
const thresholds = { minimum_rows: 10_000, warning: 0.1, ...AUTOVACUUM_TIME };

// pg_stat_all_tables would add up the scans of every index of every table.
// If the statistics were lost, live rows are not counted right until the next VACUUM or ANALYZE: the rows that the last one
// found, less those deleted since, are still there. After pg_upgrade there was no last one: then the share is at most the one that
// is counted. Autovacuum's trigger as autovacuum.c computes it: storage parameters of the table override the settings.
const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         s.dead::float8 as dead,
         s.dead::float8 / (s.dead + s.live) as share,
         c.reltuples >= 0 or ${lastLook('c.oid')} is not null as counted,${autovacuumColumns},
         null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select pg_stat_get_dead_tuples(c.oid) as dead,
             greatest(pg_stat_get_live_tuples(c.oid),
                      case when ${lastLook('c.oid')} is null
                           then c.reltuples
                                + least(pg_stat_get_tuples_inserted(c.oid) - pg_stat_get_tuples_deleted(c.oid), 0) end) as live
      offset 0
    ) s
    cross join lateral (
      select coalesce(max(option_value) filter (where option_name = 'autovacuum_vacuum_threshold'),
                      current_setting('autovacuum_vacuum_threshold'))::float8 as base,
             coalesce(max(option_value) filter (where option_name = 'autovacuum_vacuum_scale_factor'),
                      current_setting('autovacuum_vacuum_scale_factor'))::float8 as factor,
             nullif(coalesce(max(option_value) filter (where option_name = 'autovacuum_vacuum_max_threshold'),
                             current_setting('autovacuum_vacuum_max_threshold', true))::float8, -1) as most
        from pg_options_to_table(c.reloptions)
    ) autovacuum
   where c.relkind in ('r', 'm')
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and s.dead > 0
     and s.dead > least(base + factor * greatest(c.reltuples, 0), most)
   order by share desc, dead desc`;

/** Tables with many dead rows, more than autovacuum's trigger. */
export const deadTuples = relationCheck({
  id: 'PG_DEAD_TUPLES',
  title: 'Table with many dead rows',
  category: 'vacuum',
  maxSeverity: 'warning',
  thresholds,
  comparesRuns: true,
  keeps: keepTimes,
  candidates: () => candidates,
  blind: ({ standby, trackCounts }) => {
    if (standby) return 'Not measured: a standby does not count dead rows; watch its primary.';
    if (!trackCounts) return 'Not measured: dead rows are not counted while track_counts is off.';
    return undefined;
  },
  countMetric: 'tables_with_dead_rows_count',
  measure: (row, facts) => {
    const { minimum_rows, warning } = facts.thresholds;
    if (numberIn(row, 'dead') <= minimum_rows) return null;
    const metric = 'dead_rows_ratio';
    const scale = hasHadTime(row, facts) ? atLeast(metric, warning) : uncompared(metric);
    return { ...scale, object: textIn(row, 'table_name'), value: numberIn(row, 'share') };
  },
  fault: (row, facts) => {
    const { minimum_rows, warning } = facts.thresholds;
    const table = textIn(row, 'table_name');
    const dead = numberIn(row, 'dead');
    const share = numberIn(row, 'share');
    if (dead <= minimum_rows || share < warning || !hasHadTime(row, facts)) return null;
    const of =
      row['counted'] === true
        ? `${percent(share)} of all`
        : `at most ${percent(share)} of all, as it was never vacuumed or analyzed and nobody has counted the others`;
    return {
      severity: 'warning',
      object: table,
      metricLine: `table ${table} has ${grouped(dead)} dead rows, ${of}; vacuum it, and find out why autovacuum does not.`,
      remediation: `VACUUM (ANALYZE) ${table};`,
    };
  },
  passMessage: 'No table has more dead rows than autovacuum allows.',
});
