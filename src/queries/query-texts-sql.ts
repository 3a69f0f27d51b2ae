import type { Row } from '../checks/check.ts';
import { cleanText } from '../vocabulary/clean-text.ts';

/** The longest text of a query that is stored, in characters. */
const LONGEST = 4_000;

/** The texts of queries, with their constants replaced by the server. It reads the server's file of texts. */
export function postgresTexts(schema: string, queries: readonly string[]): string {
  return `
  select distinct on (queryid) queryid::text as query, left(query, ${LONGEST}) as text
    from ${schema}.pg_stat_statements
   where queryid in (${queries.join(', ')})`;
}

/** The same for MySQL and MariaDB. */
export function mysqlTexts(queries: readonly string[]): string {
  return `
  select digest as query, left(min(digest_text), ${LONGEST}) as text
    from performance_schema.events_statements_summary_by_digest
   where digest in (${queries.map((query) => `'${query}'`).join(', ')})
   group by digest`;
}

/** The texts of these queries in the rows, cleaned; without statements that set a password. */
export function textsIn(rows: readonly Row[], queries: ReadonlySet<string>): [string, string][] {
  return rows.flatMap(({ query, text }): [string, string][] =>
    typeof query === 'string' && queries.has(query) && typeof text === 'string' && !SECRET.test(text)
      ? [[query, cleanLines(text)]]
      : [],
  );
}

// The servers replace constants in queries, but not in every statement that sets a password.
const SECRET = /^\s*(?:create|alter|set|grant|change|start|copy)\b[\s\S]*(?:password|identified)/i;

/** Keeps the lines of a text, because a query without them is hard to read. */
function cleanLines(text: string): string {
  return text
    .split('\n')
    .map((line) => cleanText(line.replaceAll('\t', '  '), LONGEST))
    .join('\n')
    .slice(0, LONGEST);
}
