import { queryName } from '../../platform/text/query-name.ts';
import type { Check } from '../check.ts';
import { counted, duration, grouped } from '../wording.ts';
import { type QueryEngine, queryCheck } from './query-check.ts';
import type { QueryGrowth } from './query-facts.ts';

/** What the engine counts: rows examined, or blocks of 8 kB. */
interface Reads {
  noun: string;
  metric: string;
  amount: (query: QueryGrowth) => number;
  /** The default thresholds: read for each row that it returns, and by each call. */
  info: number;
  minimum_read: number;
}

/** A query that reads far more than it returns, which an index may save. */
export function readingQuery(
  id: string,
  { noun, metric, amount, info, minimum_read }: Reads,
  engine: QueryEngine,
): Check {
  return queryCheck({
    id,
    engine,
    metric,
    title: 'Query reads far more than it returns',
    maxSeverity: 'info',
    thresholds: { info, minimum_read, minimum_calls: 5, minimum_seconds: 30 },
    countMetric: 'reading_queries_count',
    threshold: (thresholds) => thresholds.info,
    value: (query, _facts, thresholds) => {
      const { calls, seconds, rows } = query;
      if (calls < thresholds.minimum_calls || seconds < thresholds.minimum_seconds) return null;
      const read = amount(query);
      // A call that returns nothing counts as one with a row.
      return read / calls < thresholds.minimum_read ? null : read / Math.max(rows, calls);
    },
    line: (query, value) => {
      const { calls, seconds } = query;
      return `Query ${queryName(query)} reads ${grouped(value)} ${noun} for each row that it returns, ${grouped(amount(query) / calls)} a call (${counted(calls, 'call')}, ${duration(seconds)} in all); check whether an index helps.`;
    },
    passMessage: (thresholds) =>
      `No query with much time reads ${grouped(thresholds.info)} ${noun} or more for each row that it returns.`,
  });
}
