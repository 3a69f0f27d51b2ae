import type { Row } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';

/** The most queries to compare: those that took the most time since their statistics began. Each is stored for the next run. */
const DIGEST_LIMIT = 200;

/** A query that never took as long has no part in the comparison: most queries of a server are like that. */
const SLOWEST_MS = 10;

const TABLE = 'performance_schema.events_statements_summary_by_digest';

/**
 * A row per query (digest), without its text: calls and seconds since its statistics began, and when that was. A digest
 * has a row per schema, and the table counts in picoseconds.
 */
export const digestSql = `
  select digest as digest,
         sum(count_star) + 0e0 as calls,
         sum(sum_timer_wait) / 1e12 as seconds,
         coalesce(unix_timestamp(min(first_seen)), 0) + 0e0 as since
    from ${TABLE}
   where digest is not null
   group by digest
  having max(max_timer_wait) >= ${SLOWEST_MS}e9
   order by sum(sum_timer_wait) desc
   limit ${DIGEST_LIMIT}`;

/** What a query did between two runs. */
interface DigestGrowth {
  digest: string;
  calls: number;
  /** Of one call, in seconds. */
  mean: number;
}

/**
 * What the queries of a run did since the run before; `clock` is the server's time in it (Unix, in seconds). A query
 * that the run before did not list is compared if its statistics began later: it is new, or they were reset. Otherwise
 * its growth is not known.
 */
export function digestsSince(rows: Row[], before: Row[], clock: number): DigestGrowth[] {
  const known = new Map(before.filter(isDigest).map((row) => [textIn(row, 'digest'), countersIn(row)]));
  return rows.filter(isDigest).flatMap((row) => {
    const digest = textIn(row, 'digest');
    const now = countersIn(row);
    const last = known.get(digest);
    const from = last?.since === now.since ? last : now.since > clock ? NOTHING : null;
    if (from === null) return [];
    const [calls, seconds] = [now.calls - from.calls, now.seconds - from.seconds];
    return calls > 0 && seconds >= 0 ? [{ digest, calls, mean: seconds / calls }] : [];
  });
}

const NOTHING = { calls: 0, seconds: 0 };

function countersIn(row: Row) {
  return {
    calls: numberIn(row, 'calls'),
    seconds: numberIn(row, 'seconds'),
    since: numberIn(row, 'since'),
  };
}

/** The statement that shows a person the text of a query. */
export function showDigest(digest: string): string {
  return `SELECT schema_name, digest_text FROM ${TABLE} WHERE digest = '${digest}'; -- then EXPLAIN the query, and see whether an index helps`;
}

/** A digest is 32 hexadecimal digits in MariaDB and 64 in MySQL. Anything else is not shown. */
function isDigest(row: Row): boolean {
  return typeof row['digest'] === 'string' && /^[0-9a-f]{32,64}$/i.test(row['digest']);
}
