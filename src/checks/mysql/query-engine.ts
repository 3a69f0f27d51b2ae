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
