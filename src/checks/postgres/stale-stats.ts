import { numberIn, textIn } from '../columns.ts';
import { grouped } from '../wording.ts';
import { atLeast, uncompared } from '../worst-measures.ts';
import { AUTOVACUUM_TIME, autovacuumColumns, hasHadTime, keepTimes } from './autovacuum-time.ts';
import { relationCheck } from './relation-check.ts';

/** Multiples of autovacuum's trigger; at the trigger itself autovacuum acts. */
const thresholds = { warning: 2, ...AUTOVACUUM_TIME };

// The trigger as autovacuum.c computes it: storage parameters of the table override the settings. After a bulk load
// autovacuum needs time, so tables analyzed within the hour, or with few changes, do not count.
const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         s.changes::float8 as changes,
         s.changes / autovacuum.trigger as times,${autovacuumColumns},
         null as unseen
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (select pg_stat_get_mod_since_analyze(c.oid) as changes offset 0) s
    cross join lateral (
      select coalesce(max(option_value) filter (where option_name = 'autovacuum_analyze_threshold'),
                      current_setting('autovacuum_analyze_threshold'))::float8
             + coalesce(max(option_value) filter (where option_name = 'autovacuum_analyze_scale_factor'),
                        current_setting('autovacuum_analyze_scale_factor'))::float8
               * greatest(c.reltuples, 0) + 1 as trigger
        from pg_options_to_table(c.reloptions)
    ) autovacuum
   where c.relkind in ('r', 'm')
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and s.changes > 10000
     and s.changes > autovacuum.trigger
     and coalesce(greatest(pg_stat_get_last_analyze_time(c.oid), pg_stat_get_last_autoanalyze_time(c.oid)), '-infinity')
         < now() - interval '1 hour'
   order by times desc, table_name`;

/** Tables that changed a lot since they were analyzed: the planner works with outdated row counts. */
export const staleStats = relationCheck({
  id: 'PG_STALE_STATS',
  title: 'Stale table statistics',
  category: 'vacuum',
  maxSeverity: 'warning',
  thresholds,
  comparesRuns: true,
  keeps: keepTimes,
  candidates: () => candidates,
  sorted: (row, { thresholds: { warning } }) => numberIn(row, 'times') < warning,
  blind: ({ standby, trackCounts }) => {
    if (standby) return 'Not measured: a standby does not count changes; watch its primary.';
    if (!trackCounts) return 'Not measured: changes are not counted while track_counts is off.';
    return undefined;
  },
  countMetric: 'stale_tables_count',
  measure: (row, facts) => {
    const metric = 'changes_to_analyze_trigger_ratio';
    const scale = hasHadTime(row, facts) ? atLeast(metric, facts.thresholds.warning) : uncompared(metric);
    return { ...scale, object: textIn(row, 'table_name'), value: numberIn(row, 'times') };
  },
  fault: (row, facts) => {
    const { warning } = facts.thresholds;
    const times = numberIn(row, 'times');
    if (times < warning || !hasHadTime(row, facts)) return null;
    const table = textIn(row, 'table_name');
    return {
      severity: 'warning',
      object: table,
      metricLine: `table ${table} had ${grouped(numberIn(row, 'changes'))} rows changed since it was analyzed, ${times.toFixed(1)} times autovacuum's trigger; analyze it, and find out why autovacuum does not.`,
      remediation: `ANALYZE ${table};`,
    };
  },
  passMessage: 'Autovacuum keeps the statistics of every table up to date.',
});
