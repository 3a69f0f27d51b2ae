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
  return `SELECT query FROM ${schema}.pg_stat_statements WHERE queryid = ${query} LIMIT 1; -- ${explain}`;
}
