import type { Check, ServerFacts, Thresholds } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { crosses, faultMeasure, uncompared, worstOf } from '../worst-measures.ts';
import { resetAt } from './counted-since.ts';

/** A check that compares runs is skipped if they are closer than this; the shortest interval of a connection is 10 s. */
const MINIMUM = { minimum_seconds: 5 };

/** Columns that show whether a row's counters were reset; `stats_reset` is the view's. */
export const countedFrom = `extract(epoch from ${resetAt('stats_reset')})::float8 as reset,
         extract(epoch from pg_postmaster_start_time())::float8 as started`;

/** What differs between the checks of counters that rose between two runs. */
interface CounterCheck<T extends Thresholds>
  extends Pick<Check, 'id' | 'title' | 'category' | 'maxSeverity'> {
  thresholds: T;
  /** One row per object: `object` (its quoted name; null = the server), the counters as float8, {@link countedFrom}. */
  sql: Check['sql'];
  counters: readonly string[];
  /** The fault of an object, or null. The row's counters are their growth since the last run. */
  fault: (grown: Row, minutes: number, facts: ServerFacts<T>) => Fault | null;
  /**
   * The number of an object that `fault` compares, with thresholds in the same unit (rates: per second); null if too
   * little happened since the last run. Minutes are at least one.
   */
  measure: (grown: Row, minutes: number, facts: ServerFacts<T>) => Measure | null;
  /** The measured values if there is no fault. */
  passMessage: (grown: Row[]) => string;
}

/**
 * A check of counters since the last run. Not volatile: it judges the whole interval between two runs, not a
 * moment. Rates cover at least a minute, so that a few seconds are not extrapolated.
 */
export function counterCheck<T extends Thresholds>({
  counters,
  fault,
  measure,
  passMessage,
  ...check
}: CounterCheck<T>): Check<T & typeof MINIMUM> {
  return {
    ...check,
    thresholds: { ...check.thresholds, ...MINIMUM },
    volatile: false,
    scope: 'server',
    comparesRuns: true,
    judge: (rows, facts) => {
      const [first] = rows;
      if (first === undefined) throw new TypeError("The check's statement must give a row.");
      const { minimum_seconds } = facts.thresholds;
      const { before } = facts;
      const skip = (reason: string) => ({ skipped: `Not measured: ${reason}.` });
      if (!before) return skip('it takes two runs, and this is the first');
      if (before.seconds < minimum_seconds)
        return skip(`the last run was less than ${minimum_seconds} s ago`);
      const grown = rows.map((row) => growth(row, before.rows, counters)).filter((row) => row !== null);
      if (grown.length === 0) {
        const restarted = before.rows.some(({ started }) => started !== first['started']);
        return skip(
          `${restarted ? 'the server was restarted' : 'the statistics were reset'} since the last run`,
        );
      }
      const minutes = Math.max(1, before.seconds / 60);
      const faults: Fault[] = [];
      const measures: Measure[] = [];
      for (const row of grown) {
        const found = fault(row, minutes, facts);
        const value = measure(row, minutes, facts);
        if (found) faults.push({ ...found, ...(value && { measured: faultMeasure(value) }) });
        // Over its threshold without a fault: there is too little of it to judge.
        const isJudged = found !== null || value === null || !crosses(value, value.warning);
        if (value) measures.push(isJudged ? value : { ...value, ...uncompared(value.metric) });
      }
      const known = new Set(before.rows.map(({ object }) => object));
      const reset = rows.filter(({ object }) => known.has(object)).length > grown.length;
      return {
        faults: faults.slice(0, FAULT_LIMIT),
        passMessage: passMessage(grown),
        measures: worstOf(measures),
        truncated: faults.length > FAULT_LIMIT || reset,
      };
    },
  };
}

/** The row with the growth of its counters; null if it has no earlier row, or its counters were reset since. */
function growth(row: Row, before: Row[], counters: readonly string[]): Row | null {
  const object = textOrNone(row, 'object') ?? null;
  const last = before.find((one) => one['object'] === object);
  if (!last || last['reset'] !== row['reset'] || last['started'] !== row['started']) return null;
  const risen = counters.map((name): [string, number] => [name, numberIn(row, name) - numberIn(last, name)]);
  return risen.some(([, by]) => by < 0) ? null : { ...row, ...Object.fromEntries(risen) };
}

/** The growth of a counter over all rows. */
export function total(grown: Row[], counter: string): number {
  return grown.reduce((sum, row) => sum + numberIn(row, counter), 0);
}
