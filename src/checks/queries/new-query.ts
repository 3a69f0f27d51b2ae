import { queryName } from '../../platform/text/query-name.ts';
import type { Check } from '../check.ts';
import { counted, duration, percent } from '../wording.ts';
import { type QueryEngine, queryCheck } from './query-check.ts';
import { placeKey, type QueryFacts, selectWork } from './query-facts.ts';

const thresholds = {
  /** Share of the time of all queries, and the days of history that make a query new. */
  info: 0.1,
  minimum_days: 3,
  /** The time of the query in the last 30 to 90 minutes: on an idle server every query has a large share. */
  minimum_seconds: 30,
};

/** How many of the queries with the most time are looked at for {@link haveNewIds}: at least, and at most. Each takes this share of the time. */
const [FEWEST, MOST, LEAST_SHARE] = [5, 20, 0.01];

/**
 * Whether hardly any query is known: the server has given them new ids. PostgreSQL makes a queryid of the oids of tables, which a restore
 * changes, and a new major version of any engine makes ids in another way.
 */
function haveNewIds(facts: QueryFacts): boolean {
  const largest = selectWork(facts, 'recent')
    .slice(0, MOST)
    .filter(({ seconds }) => seconds >= LEAST_SHARE * facts.recentSeconds);
  const known = largest.filter((query) => facts.usual.has(placeKey(query)));
  return largest.length >= FEWEST && facts.usual.size > 0 && known.length * 5 < largest.length;
}

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
    skipped: (facts, { minimum_days }) => {
      if (facts.historyDays < minimum_days)
        return `it takes ${minimum_days} days of history, and there are fewer`;
      if (facts.usualIsCut) return 'this server has too many different queries to know which are new';
      return haveNewIds(facts)
        ? 'hardly any query is known from before: after a restore, or with a new major version, the same queries have other ids'
        : null;
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
