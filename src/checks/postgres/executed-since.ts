import type { Row } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';

/** A query since the last run, by all roles and in all databases. */
export interface Executed {
  /** Its queryid. */
  query: string;
  calls: number;
  /** Milliseconds in all. */
  total: number;
}

/** How the rows of two runs of pg_stat_statements are compared. */
interface Last {
  /** When the server read the earlier ones: Unix time, by its own clock. */
  at: number;
  /** Whether it evicted entries since. */
  evicted: boolean;
}

/**
 * What was executed since the last run, most time first. `before` has the entries of that run: `entry`, `calls`,
 * `total`, and `since`, when the entry was made (null before PostgreSQL 17). An entry that is new here, but may be older
 * than the last run, is left out: nobody knows when it counted what it has.
 */
export function executedSince(rows: readonly Row[], before: readonly Row[], last: Last): Executed[] {
  const earlier = new Map(before.map((row) => [row['entry'], row]));
  const queries = new Map<string, Executed>();
  for (const row of rows) {
    const grown = growth(row, earlier.get(row['entry']), last);
    if (!grown || !(grown.calls > 0)) continue;
    const query = textIn(row, 'query');
    const { calls, total } = queries.get(query) ?? { calls: 0, total: 0 };
    queries.set(query, { query, calls: calls + grown.calls, total: total + grown.total });
  }
  return [...queries.values()].sort((one, other) => other.total - one.total);
}

type Grown = Pick<Executed, 'calls' | 'total'>;

function growth(row: Row, before: Row | undefined, { at, evicted }: Last): Grown | null {
  const whole = { calls: numberIn(row, 'calls'), total: numberIn(row, 'total') };
  const since = row['since'] === null ? null : numberIn(row, 'since');
  if (since !== null && since > at) return whole;
  if (before === undefined) return null;
  const grown = {
    calls: whole.calls - numberIn(before, 'calls'),
    total: whole.total - numberIn(before, 'total'),
  };
  // It was evicted or reset, and made again: all that it counts happened since the last run.
  if (grown.calls < 0 || grown.total < 0) return whole;
  if (since !== null || !evicted || grown.calls === 0) return grown;
  // It may be the old entry or a new one. Both counted at least so many calls that took at least so long.
  return { calls: grown.calls, total: Math.min(grown.total, (whole.total / whole.calls) * grown.calls) };
}
