import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Fault } from '../fault.ts';
import { addUp, type QueryGrowth, selectWork } from '../queries/query-facts.ts';
import { counted, duration, grouped } from '../wording.ts';
import { countOf, faultMeasure, listHighest, type Scale } from '../worst-measures.ts';
import { showQuery, showWaitingQuery } from './query-engine.ts';

/** Mean milliseconds and calls a day above which optimizing is worth the effort; dbvitals' own. */
const thresholds = { info_ms: 50, calls_per_day: 50, minimum_seconds: 5 };

/** A few calls in five minutes are not a daily rate: a shorter time between two runs counts as an hour. */
const LEAST_SECONDS = 3_600;

/** Seconds that a block takes at most: in memory with the rows in it, and on a slow disk. */
const MOST_SECONDS = { hit: 0.001, disk: 0.01 };
const BLOCK = 8192;

/** Whether a query must have waited, or computed, for most of its time. The server does not count the waits of a query. */
function isWaiting({ seconds, hit, read, temporary }: QueryGrowth): boolean {
  const disk = read + temporary / BLOCK;
  return seconds > 2 * (hit * MOST_SECONDS.hit + disk * MOST_SECONDS.disk);
}

/** Queries that were slow and ran often since the last run. */
export const slowQueries: Check<typeof thresholds> = {
  id: 'PG_SLOW_QUERIES',
  title: 'Slow query',
  category: 'performance',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  cost: 1,
  readsQueries: true,
  thresholds,
  sql: () => [],
  judge: (_rows, { queries, thresholds: { info_ms, calls_per_day, minimum_seconds }, version }) => {
    if (queries === undefined) return { skipped: 'Not measured: it takes two runs, and this is the first.' };
    if ('skipped' in queries) return queries;
    if (queries.seconds < minimum_seconds)
      return { skipped: `Not measured: the last run was less than ${minimum_seconds} s ago.` };
    const often = (calls_per_day * Math.max(queries.seconds, LEAST_SECONDS)) / 86_400;
    const scale: Scale = {
      metric: 'query_mean_seconds',
      operator: '>=',
      warning: info_ms / 1_000,
      critical: null,
    };
    // By all roles, in all databases.
    const executed = addUp(selectWork(queries, 'grown').map((one) => ({ ...one, database: '', role: '' })));
    const frequent = executed.filter(({ calls }) => calls >= often);
    const slow = frequent.filter(({ calls, seconds }) => (seconds / calls) * 1_000 >= info_ms);
    const faultOf = (one: QueryGrowth): Fault => ({
      severity: 'info',
      object: one.query,
      metricLine: `Query ${one.query} took ${grouped((one.seconds / one.calls) * 1_000)} ms on average, ${counted(one.calls, 'time')} since the last run (${duration(one.seconds)} in all); ${isWaiting(one) ? 'it read too little to work so long: find out what it waits for, such as a lock' : 'check whether an index helps'}.`,
      remediation: isWaiting(one)
        ? showWaitingQuery(one.query, queries.schema)
        : showQuery(one.query, queries.schema, version),
      measured: faultMeasure({ ...scale, object: one.query, value: one.seconds / one.calls }),
    });
    const means = frequent.map(({ query, calls, seconds }) => ({ object: query, value: seconds / calls }));
    return {
      faults: slow.slice(0, FAULT_LIMIT).map(faultOf),
      passMessage: `No query took ${grouped(info_ms)} ms or more ${grouped(calls_per_day)} times a day since the last run.`,
      measures: [...listHighest(scale, means), countOf('slow_queries_count', slow.length)],
      truncated: slow.length > FAULT_LIMIT,
    };
  },
};
