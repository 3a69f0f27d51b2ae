import { queryName } from '../../platform/text/query-name.ts';
import type { Check } from '../check.ts';
import { counted, duration, grouped } from '../wording.ts';
import { type QueryEngine, queryCheck } from './query-check.ts';
import { placeKey } from './query-facts.ts';

const thresholds = {
  /** How many times slower than usual, and the days that make it usual. */
  warning: 3,
  minimum_days: 3,
  /** In the last 30 to 90 minutes: fewer calls, less time in all, or less time a call, is noise. */
  minimum_calls: 20,
  minimum_seconds: 5,
  minimum_ms: 5,
};

/** A query whose calls take much longer than in the two weeks before. */
export function slowerQuery(id: string, engine: QueryEngine): Check<typeof thresholds> {
  return queryCheck({
    id,
    engine,
    thresholds,
    title: 'Query became slower',
    maxSeverity: 'warning',
    metric: 'query_slowdown_ratio',
    countMetric: 'slower_queries_count',
    threshold: ({ warning }) => warning,
    skipped: ({ historyDays }, { minimum_days }) =>
      historyDays < minimum_days ? `it takes ${minimum_days} days of history, and there are fewer` : null,
    value: (query, facts, { minimum_calls, minimum_seconds, minimum_ms, minimum_days }) => {
      const { calls, seconds } = query;
      if (calls < minimum_calls || seconds < minimum_seconds) return null;
      if (seconds / calls < minimum_ms / 1_000) return null;
      const usual = facts.usual.get(placeKey(query));
      return usual && usual.days >= minimum_days && usual.mean > 0 ? seconds / calls / usual.mean : null;
    },
    line: (query, ratio, facts) => {
      const { calls, seconds } = query;
      const usual = facts.usual.get(placeKey(query))?.mean ?? 0;
      return `Query ${queryName(query)} takes ${ratio.toFixed(1)} times as long as usual: ${milliseconds(seconds / calls)} a call instead of ${milliseconds(usual)} in the two weeks before (${counted(calls, 'call')}, ${duration(seconds)} in all); look for a changed plan, more data, or a lock that it waits for.`;
    },
    passMessage: ({ warning }) => `No query takes ${warning} times as long as in the two weeks before.`,
  });
}

function milliseconds(seconds: number): string {
  return seconds >= 0.01 ? `${grouped(seconds * 1_000)} ms` : `${(seconds * 1_000).toPrecision(2)} ms`;
}
