import type { QueryEngine } from '../queries/query-check.ts';

/** How the checks of queries name and show a query of PostgreSQL. */
export const postgresQueries: QueryEngine = {
  show: ({ query }, { schema }, version) => showQuery(query, schema, version),
};

/** The statement that shows the text of a query, and what to do then. Run it in the database that the connection names. */
export function showQuery(query: string, schema: string, version: number): string {
  const explain =
    version >= 160_000
      ? 'then run EXPLAIN (GENERIC_PLAN) with this text in the database of the query'
      : 'then run EXPLAIN (ANALYZE, BUFFERS) with this text in the database of the query, with values in place of $1, $2';
  return look(query, schema, explain);
}

/** The statement that shows the text of a query that waits. */
export function showWaitingQuery(query: string, schema: string): string {
  return look(
    query,
    schema,
    `then, while it runs, SELECT wait_event_type, wait_event, pg_blocking_pids(pid) FROM pg_stat_activity WHERE query_id = ${query}; shows what it waits for: Lock is a lock that the named sessions hold`,
  );
}

function look(query: string, schema: string, next: string): string {
  return `SELECT query FROM ${schema}.pg_stat_statements WHERE queryid = ${query} LIMIT 1; -- ${next}`;
}
