import { numberIn, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted, grouped, size } from '../wording.ts';
import { atLeast, uncompared } from '../worst-measures.ts';
import { AUTOVACUUM_TIME, autovacuumColumns, hasHadTime, keepTimes } from './autovacuum-time.ts';
import { relationCheck } from './relation-check.ts';

/** Multiples of autovacuum's trigger; at the trigger itself autovacuum acts. */
const thresholds = { warning: 2, ...AUTOVACUUM_TIME };

// The trigger as autovacuum.c computes it: storage parameters of the table override the settings.
const tables = `
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
     and n.nspname <> 'information_schema'`;

// After a bulk load autovacuum needs time, so tables analyzed within the hour, or with few changes, do not count.
const stale = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         s.changes::float8 as changes,
         s.changes / autovacuum.trigger as times,${autovacuumColumns},
         null::float8 as unanalyzed,
         null as unseen
         ${tables}
     and s.changes > 10000
     and s.changes > autovacuum.trigger
     and coalesce(greatest(pg_stat_get_last_analyze_time(c.oid), pg_stat_get_last_autoanalyze_time(c.oid)), '-infinity')
         < now() - interval '1 hour'`;

/** Tables below 1 MiB need no statistics. The size of each costs a look at its file, so no more of them are looked at. */
const LOOKED_AT = 1_000;

// pg_upgrade before 18 leaves no statistics, and a crash no count of changes: below its trigger, autovacuum never analyzes such a table.
// One that somebody writes to, loads or analyzes now is left out, because its changes are counted when the transaction ends.
const unanalyzed = `
  select (array_agg(table_name order by bytes desc, table_name))[1] as table_name,
         max(bytes)::float8 as changes, 0 as times,
         current_setting('autovacuum')::bool as autovacuum, false as visited,
         (select setting::float8 from pg_settings where name = 'autovacuum_naptime') as nap,
         count(*)::float8 as unanalyzed, null as unseen
    from (select format('%I.%I', n.nspname, c.relname) as table_name, pg_relation_size(c.oid) as bytes
            ${tables}
             and c.reltuples < 0
             and s.changes <= autovacuum.trigger
             and c.oid <> all (array(select relation from pg_locks
                                      where relation is not null and mode <> 'AccessShareLock'))
           limit ${LOOKED_AT}) never
   where bytes >= 1048576
  having count(*) > 0`;

const candidates = `
  select * from (${unanalyzed} union all ${stale}) either order by unanalyzed, times desc, table_name`;

/** One fault for all of them: a single ANALYZE is their end. `changes` is the size of the largest. */
function faultOfUnanalyzed(row: Row): Fault {
  const count = numberIn(row, 'unanalyzed');
  const [table, bytes] = [textIn(row, 'table_name'), size(numberIn(row, 'changes'))];
  const which =
    count === 1
      ? `table ${table} (${bytes}) has`
      : `${counted(count, 'table')}, such as ${table} (${bytes}), have`;
  return {
    severity: 'warning',
    object: null,
    metricLine: `${which} no statistics at all, as after a major upgrade, and too few changes for autovacuum to make them: the planner guesses there; run ANALYZE, or vacuumdb --all --analyze-in-stages.`,
    remediation: 'ANALYZE;',
  };
}

/** Tables that changed a lot since they were analyzed, or never were: the planner works with outdated row counts, or none. */
export const staleStats = relationCheck({
  id: 'PG_STALE_STATS',
  title: 'Stale table statistics',
  category: 'vacuum',
  maxSeverity: 'warning',
  thresholds,
  comparesRuns: true,
  keeps: keepTimes,
  candidates: () => candidates,
  // The first row is that of all tables without statistics.
  sorted: (row, { thresholds: { warning } }) => numberIn(row, 'times') < warning,
  blind: ({ standby, trackCounts }) => {
    if (standby) return 'Not measured: a standby does not count changes; watch its primary.';
    if (!trackCounts) return 'Not measured: changes are not counted while track_counts is off.';
    return undefined;
  },
  countMetric: 'stale_tables_count',
  measure: (row, facts) => {
    if (row['unanalyzed'] !== null) return null;
    const metric = 'changes_to_analyze_trigger_ratio';
    const scale = hasHadTime(row, facts) ? atLeast(metric, facts.thresholds.warning) : uncompared(metric);
    return { ...scale, object: textIn(row, 'table_name'), value: numberIn(row, 'times') };
  },
  fault: (row, facts) => {
    if (row['unanalyzed'] !== null) return hasHadTime(row, facts) ? faultOfUnanalyzed(row) : null;
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
