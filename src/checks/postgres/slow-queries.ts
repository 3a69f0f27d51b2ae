import type { Check, Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import { duration, grouped } from '../wording.ts';

/** Mean milliseconds and calls a day above which optimizing is worth the effort; dbvitals' own. */
const thresholds = { info_ms: 50, calls_per_day: 50 };

/** The statements with the most total time; there may be as many as pg_stat_statements.max. */
const STATEMENT_LIMIT = 1_000;

// false = without query texts, which the check must not read. On the first day the calls count as they are.
const sql = (schema: string) => `
  select exists (select from pg_settings where name = 'pg_stat_statements.max') as loaded,
         pg_has_role('pg_read_all_stats', 'usage') as sees_all,
         quote_ident(current_user) as me,
         (select quote_ident(nspname)
            from pg_extension e
            join pg_namespace n on n.oid = e.extnamespace
           where extname = 'pg_stat_statements') as schema,
         query.*
    from (select) one_row
    left join (
      select queryid::text as query,
             sum(calls)::float8 / greatest(1, max(extract(epoch from clock_timestamp() - stats_reset)) / 86400)::float8 as a_day,
             sum(total_exec_time) / sum(calls)::float8 as mean
        from ${schema}.pg_stat_statements(false)
        cross join ${schema}.pg_stat_statements_info()
       where (select count(*) from pg_settings where name = 'pg_stat_statements.max') = 1
         and calls > 0
         and queryid is not null
       group by queryid
       order by sum(total_exec_time) desc
       limit ${STATEMENT_LIMIT + 1}
    ) query on true`;

/** Queries that are slow and run often. */
export const slowQueries: Check<typeof thresholds> = {
  id: 'PG_SLOW_QUERIES',
  title: 'Slow query',
  category: 'performance',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  extension: 'pg_stat_statements',
  thresholds,
  sql: (_version, schema) => (schema === undefined ? 'select null as schema' : sql(schema)),
  judge: (rows, facts) => {
    const { info_ms, calls_per_day } = facts.thresholds;
    const first = onlyRow(rows.slice(0, 1));
    const passMessage = `No query takes ${grouped(info_ms)} ms or more ${grouped(calls_per_day)} times a day.`;
    if (first['schema'] === null) {
      const skipped = `Not measured: pg_stat_statements is not installed in database ${facts.database}.`;
      return { skipped };
    }
    if (first['loaded'] !== true) {
      const skipped = 'Not measured: pg_stat_statements is not in shared_preload_libraries.';
      return { skipped };
    }
    if (first['sees_all'] !== true) {
      const grant = `GRANT pg_monitor TO ${textIn(first, 'me')};`;
      return { skipped: 'Not measured: the queries of other roles are hidden.', grant };
    }
    const queries = rows
      .filter(({ query }) => query !== null)
      .map((row) => ({ row, mean: numberIn(row, 'mean'), aDay: numberIn(row, 'a_day') }));
    const slow = queries.filter(({ mean, aDay }) => mean >= info_ms && aDay >= calls_per_day);
    // They come by the time they took in all: what lies behind the last may be slow only if that took long enough.
    const last = queries[STATEMENT_LIMIT];
    const cutShort = last !== undefined && last.mean * last.aDay >= info_ms * calls_per_day;
    return {
      passMessage,
      faults: slow.slice(0, FAULT_LIMIT).map(({ row, mean, aDay }): Fault => {
        const query = textIn(row, 'query');
        return {
          severity: 'info',
          object: query,
          metricLine: `Query ${query} takes ${grouped(mean)} ms on average, ${grouped(aDay)} times a day (${duration((mean * aDay) / 1000)} of a day); check whether an index helps.`,
          remediation: `SELECT query FROM ${textIn(row, 'schema')}.pg_stat_statements WHERE queryid = ${query}; -- then EXPLAIN (ANALYZE, BUFFERS) it`,
        };
      }),
      truncated: slow.length > FAULT_LIMIT || cutShort,
    };
  },
};
