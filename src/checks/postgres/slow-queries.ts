import type { Check, Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { addUp, type QueryGrowth } from '../queries/query-facts.ts';
import { counted, duration, grouped } from '../wording.ts';
import { countOf, faultMeasure, highestOf, type Scale } from '../worst-measures.ts';
import { showQuery } from './query-engine.ts';

/** Mean milliseconds and calls a day above which optimizing is worth the effort; dbvitals' own. */
const thresholds = { info_ms: 50, calls_per_day: 50, minimum_seconds: 5 };

/** A few calls in five minutes are not a daily rate: a shorter time between two runs counts as an hour. */
const LEAST_SECONDS = 3_600;

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
      ...{ metric: 'query_mean_seconds', operator: '>=', warning: info_ms / 1_000, critical: null },
    };
    // By all roles, in all databases.
    const executed = addUp(queries.grown.map((one) => ({ ...one, database: '', role: '' })));
    const frequent = executed.filter(({ calls }) => calls >= often);
    const slow = frequent.filter(({ calls, seconds }) => (seconds / calls) * 1_000 >= info_ms);
    const faultOf = (one: QueryGrowth): Fault => ({
      severity: 'info',
      object: one.query,
      metricLine: `Query ${one.query} took ${grouped((one.seconds / one.calls) * 1_000)} ms on average, ${counted(one.calls, 'time')} since the last run (${duration(one.seconds)} in all); check whether an index helps.`,
      remediation: showQuery(one.query, queries.schema, version),
      measured: faultMeasure({ ...scale, object: one.query, value: one.seconds / one.calls }),
    });
    const means = frequent.map(({ query, calls, seconds }) => ({ object: query, value: seconds / calls }));
    return {
      faults: slow.slice(0, FAULT_LIMIT).map(faultOf),
      passMessage: `No query took ${grouped(info_ms)} ms or more ${grouped(calls_per_day)} times a day since the last run.`,
      measures: [...highestOf(scale, means), countOf('slow_queries_count', slow.length)],
      truncated: slow.length > FAULT_LIMIT,
    };
  },
};
