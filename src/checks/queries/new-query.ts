import { queryName } from '../../platform/text/query-name.ts';
import type { Check } from '../check.ts';
import { counted, duration, percent } from '../wording.ts';
import { type QueryEngine, queryCheck } from './query-check.ts';
import { placeKey } from './query-facts.ts';

const thresholds = {
  /** Share of the time of all queries, and the days of history that make a query new. */
  info: 0.1,
  minimum_days: 3,
  /** The time of the query in the last 30 to 90 minutes: on an idle server every query has a large share. */
  minimum_seconds: 30,
};

/** A query that takes much of the time, and was not among the queries with the most time before. */
export function newQuery(id: string, engine: QueryEngine): Check<typeof thresholds> {
  return queryCheck({
    id,
    engine,
    thresholds,
    title: 'New query takes much of the time',
    maxSeverity: 'info',
    metric: 'new_query_time_ratio',
    countMetric: 'new_queries_count',
    threshold: ({ info }) => info,
    skipped: ({ historyDays, usualIsCut }, { minimum_days }) => {
      if (historyDays < minimum_days) return `it takes ${minimum_days} days of history, and there are fewer`;
      return usualIsCut ? 'this server has too many different queries to know which are new' : null;
    },
    value: (query, facts, { minimum_seconds }) =>
      query.seconds < minimum_seconds || facts.usual.has(placeKey(query))
        ? null
        : query.seconds / facts.recentSeconds,
    line: (query, share, { historyDays }) =>
      `Query ${queryName(query)} takes ${percent(share)} of the time of all queries (${counted(query.calls, 'call')}, ${duration(query.seconds)} in all); in the ${Math.round(historyDays)} days before it was in no hour among the 50 queries with the most time.`,
    passMessage: ({ info }) => `No new query takes ${percent(info)} of the time or more.`,
  });
}
