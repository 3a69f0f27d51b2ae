import type { QueryEngine } from '../queries/query-check.ts';

/** How the checks of queries name and show a query of MySQL and MariaDB. */
export const mysqlQueries: QueryEngine = {
  privilege: () => 'SELECT ON performance_schema.*',
  show: ({ query }) => showDigest(query),
};

/** The statement that shows a person the text of a query, and what to do then. */
export function showDigest(digest: string): string {
  return `SELECT schema_name, digest_text FROM performance_schema.events_statements_summary_by_digest WHERE digest = '${digest}'; -- then EXPLAIN the query with values in place of ?, and see whether an index helps`;
}

/** The statement that shows the text of a query that waits, and whom for. */
export function showWaitingDigest(digest: string): string {
  return `SELECT schema_name, digest_text, round(sum_timer_wait / 1e12, 3) AS seconds, round(sum_lock_time / 1e12, 3) AS lock_seconds, sum_rows_examined FROM performance_schema.events_statements_summary_by_digest WHERE digest = '${digest}'; -- then, while it runs, SELECT waiting_pid, blocking_pid, wait_age FROM sys.innodb_lock_waits; shows which session holds the lock that it waits for`;
}
