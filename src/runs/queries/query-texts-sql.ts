import type { Row } from '../../checks/fault.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { redactText } from './redact-text.ts';

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

/** The texts of these queries in the rows, cleaned and without values; without statements that set a password. */
export function textsIn(
  engine: Engine,
  rows: readonly Row[],
  queries: ReadonlySet<string>,
): [string, string][] {
  return rows.flatMap(({ query, text }): [string, string][] => {
    if (typeof query !== 'string' || !queries.has(query) || typeof text !== 'string') return [];
    const redacted = redactText(engine, text);
    // Before and after: without comments, which may come first, and with what a setting is set to.
    return SECRET.test(text) || SECRET.test(redacted) ? [] : [[query, cleanQueryText(redacted)]];
  });
}

// Their form is no secret, but a name in them may be a part of one.
const SECRET = /^\s*(?:create|alter|set|grant|change|start|copy)\b[\s\S]*(?:password|identified)/i;

/** Makes the text of a query safe to store. Keeps its lines, because a query without them is hard to read. */
export function cleanQueryText(text: string): string {
  return text
    .split('\n')
    .map((line) => cleanText(line.replaceAll('\t', '  '), LONGEST))
    .join('\n')
    .slice(0, LONGEST);
}
