import { queryName } from '../../platform/text/query-name.ts';
import type { Check, Judgement, ServerFacts, Thresholds } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Fault } from '../fault.ts';
import { atLeast, countOf, faultMeasure, listHighest } from '../worst-measures.ts';
import { type QueryFacts, type QueryGrowth, selectWork } from './query-facts.ts';

/** What the checks of queries of an engine have in common. */
export interface QueryEngine {
  privilege?: NonNullable<Check['privilege']>;
  /** The statement that shows a person the text of a query, and what to do then. */
  show(query: QueryGrowth, facts: QueryFacts, version: number): string;
}

/** What differs between the checks of queries. */
interface QueryCheck<T extends Thresholds> extends Pick<Check, 'id' | 'title' | 'maxSeverity'> {
  thresholds: T;
  metric: string;
  countMetric: string;
  /** The value from which on it is a fault. */
  threshold: (thresholds: T) => number;
  /** Why nothing can be judged; null if it can. */
  skipped?: (facts: QueryFacts, thresholds: T) => string | null;
  /** The value of a query of the last 30 to 90 minutes; null if it can't be judged or need not be. */
  value: (query: QueryGrowth, facts: QueryFacts, thresholds: T) => number | null;
  line: (query: QueryGrowth, value: number, facts: QueryFacts) => string;
  passMessage: (thresholds: T) => string;
  engine: QueryEngine;
}

/**
 * A check of what queries did in the last 30 to 90 minutes. The run reads the statistics once for all of them, so it has no
 * statement of its own. A finding names a query by its id, never by its text.
 */
export function queryCheck<T extends Thresholds>(given: QueryCheck<T>): Check<T> {
  const { id, title, maxSeverity, thresholds, engine } = given;
  return {
    id,
    title,
    maxSeverity,
    thresholds,
    category: 'performance',
    volatile: true,
    scope: 'server',
    cost: 1,
    readsQueries: true,
    ...(engine.privilege && { privilege: engine.privilege }),
    sql: () => [],
    judge: (_rows, facts) => judge(given, facts),
  };
}

function judge<T extends Thresholds>(
  { metric, countMetric, threshold, skipped, value, line, passMessage, maxSeverity, engine }: QueryCheck<T>,
  { queries, thresholds, version }: ServerFacts<T>,
): Judgement {
  if (queries === undefined) return { skipped: 'Not measured: it takes two runs, and this is the first.' };
  if ('skipped' in queries) return queries;
  const reason = skipped?.(queries, thresholds) ?? null;
  if (reason !== null) return { skipped: `Not measured: ${reason}.` };
  const least = threshold(thresholds);
  const scale = atLeast(metric, least);
  const valued = selectWork(queries, 'recent')
    .flatMap((query) => {
      const its = value(query, queries, thresholds);
      return its === null ? [] : [{ query, value: its, object: queryName(query) }];
    })
    .sort((one, other) => other.value - one.value);
  const found = valued.filter((one) => one.value >= least);
  const faults = found.slice(0, FAULT_LIMIT).map(
    ({ query, value: its, object }): Fault => ({
      severity: maxSeverity,
      object,
      metricLine: line(query, its, queries),
      remediation: engine.show(query, queries, version),
      measured: faultMeasure({ ...scale, object, value: its }),
    }),
  );
  return {
    faults,
    passMessage: passMessage(thresholds),
    measures: [...listHighest(scale, valued), countOf(countMetric, found.length)],
    near: valued.filter((one) => one.value < least && one.value >= 0.9 * least).map(({ object }) => object),
    truncated: found.length > FAULT_LIMIT,
  };
}
