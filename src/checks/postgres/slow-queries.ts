import type { Check, Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { onlyRow, textIn } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { counted, duration, grouped } from '../wording.ts';
import { countOf, faultMeasure, highestOf, type Scale } from '../worst-measures.ts';
import { type Executed, executedSince } from './executed-since.ts';

/** Mean milliseconds and calls a day above which optimizing is worth the effort; dbvitals' own. */
const thresholds = { info_ms: 50, calls_per_day: 50, minimum_seconds: 5 };

/** The statements with the most total time. There may be 20 times as many, but these are stored from run to run. */
const STATEMENT_LIMIT = 250;

/** A few calls in five minutes are not a daily rate: a shorter time between two runs counts as an hour. */
const LEAST_SECONDS = 3_600;

// false = without query texts, which the check must not read. One whose slowest call took less than 10 ms is not slow.
// stats_since is absent before version 1.11 of the extension: the name then means the column of `absent`.
const sql = (schema: string) => `
  with loaded as materialized (
    select count(*) = 1 as yes from pg_settings where name = 'pg_stat_statements.max'
  )
  select loaded.yes as loaded,
         pg_has_role('pg_read_all_stats', 'usage') as sees_all,
         quote_ident(current_user) as me,
         (select quote_ident(nspname)
            from pg_extension e
            join pg_namespace n on n.oid = e.extnamespace
           where extname = 'pg_stat_statements') as schema,
         extract(epoch from clock_timestamp())::float8 as at,
         info.*,
         query.*
    from loaded
    left join (
      select extract(epoch from stats_reset)::float8 as reset, dealloc::float8 as evictions
        from ${schema}.pg_stat_statements_info()
       where (select yes from loaded)
    ) info on true
    left join (
      select queryid::text as query,
             concat_ws('/', queryid, userid, dbid, toplevel) as entry,
             calls::float8 as calls,
             total_exec_time as total,
             extract(epoch from (select stats_since from (select statement.*) present))::float8 as since
        from ${schema}.pg_stat_statements(false) statement
        cross join (select null::timestamptz as stats_since) absent
       where (select yes from loaded)
         and calls > 0
         and queryid is not null
         and max_exec_time >= 10
       order by total_exec_time desc
       limit ${STATEMENT_LIMIT}
    ) query on true`;

/** Queries that were slow and ran often since the last run. */
export const slowQueries: Check<typeof thresholds> = {
  id: 'PG_SLOW_QUERIES',
  title: 'Slow query',
  category: 'performance',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  extension: 'pg_stat_statements',
  comparesRuns: true,
  thresholds,
  sql: (_version, schema) => (schema === undefined ? 'select null as schema' : sql(schema)),
  keeps: (rows) => [
    ...rows.slice(0, 1).map(({ at, reset, evictions }) => ({ at, reset, evictions })),
    ...rows.map(({ entry, calls, total, since }) => ({ entry, calls, total, since })),
  ],
  judge: (rows, facts) => {
    const { info_ms, calls_per_day, minimum_seconds } = facts.thresholds;
    const first = onlyRow(rows.slice(0, 1));
    const skip = (reason: string) => ({ skipped: `Not measured: ${reason}.` });
    if (first['schema'] === null)
      return skip(`pg_stat_statements is not installed in database ${facts.database}`);
    if (first['loaded'] !== true) return skip('pg_stat_statements is not in shared_preload_libraries');
    if (first['sees_all'] !== true) {
      const grant = `GRANT pg_monitor TO ${textIn(first, 'me')};`;
      return { ...skip('the queries of other roles are hidden'), grant };
    }
    const [last, ...entries] = facts.before?.rows ?? [];
    if (facts.before === undefined || typeof last?.['at'] !== 'number')
      return skip('it takes two runs, and this is the first');
    const { seconds } = facts.before;
    if (seconds < minimum_seconds) return skip(`the last run was less than ${minimum_seconds} s ago`);
    if (last['reset'] !== first['reset']) return skip('the statistics were reset since the last run');

    const statements = rows.filter(({ query }) => query !== null).slice(0, STATEMENT_LIMIT);
    const evicted = last['evictions'] !== first['evictions'];
    const executed = executedSince(statements, entries, { at: last['at'], evicted });
    const often = (calls_per_day * Math.max(seconds, LEAST_SECONDS)) / 86_400;
    const scale: Scale = {
      ...{ metric: 'query_mean_seconds', operator: '>=', warning: info_ms / 1_000, critical: null },
    };
    const frequent = executed.filter(({ calls }) => calls >= often);
    const slow = frequent.filter(({ calls, total }) => total / calls >= info_ms);
    return {
      faults: slow.slice(0, FAULT_LIMIT).map((each) => fault(each, textIn(first, 'schema'), scale)),
      passMessage: `No query took ${grouped(info_ms)} ms or more ${grouped(calls_per_day)} times a day since the last run.`,
      measures: [...highestOf(scale, frequent.map(meanOf)), countOf('slow_queries_count', slow.length)],
      truncated: slow.length > FAULT_LIMIT,
    };
  },
};

function meanOf({ query, calls, total }: Executed): Pick<Measure, 'object' | 'value'> {
  return { object: query, value: total / calls / 1_000 };
}

function fault(executed: Executed, schema: string, scale: Scale): Fault {
  const { query, calls, total } = executed;
  return {
    severity: 'info',
    object: query,
    metricLine: `Query ${query} took ${grouped(total / calls)} ms on average, ${counted(calls, 'time')} since the last run (${duration(total / 1_000)} in all); check whether an index helps.`,
    remediation: `SELECT query FROM ${schema}.pg_stat_statements WHERE queryid = ${query}; -- then EXPLAIN (ANALYZE, BUFFERS) it`,
    measured: faultMeasure({ ...scale, ...meanOf(executed) }),
  };
}
