import type { Check, ServerFacts, Thresholds } from '../check.ts';
import { numberIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure, Operator } from '../measure.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';

/** A check that compares runs is skipped if they are closer than this; the shortest interval of a connection is 10 s. */
const MINIMUM = { minimum_seconds: 5 };

/** Uptime is in whole seconds, and read a moment before or after the clock. */
const SECONDS_OFF = 3;

const clock = 'select unix_timestamp() as clock';

/** The growth of counters since the last run, and the variables as they are now. */
export interface Grown {
  /** NaN if the last run did not read it, which an older version made. */
  by: (counter: string) => number;
  /** Since the last run: at least one, so that a few seconds are not extrapolated. */
  minutes: number;
  now: Figures;
}

/** A number of the server, without its place. */
type ServerMeasure = Omit<Measure, 'object'>;

/** What differs between the checks of counters that rose between two runs. */
interface CounterCheck<T extends Thresholds> extends Pick<Check, 'id' | 'title' | 'category'> {
  severity: Fault['severity'];
  thresholds: T;
  /** Of SHOW GLOBAL STATUS; only ever rising. */
  counters: readonly string[];
  /** Of SHOW GLOBAL STATUS too: what also falls, or what not every server has. */
  status?: readonly string[];
  /** Of SHOW GLOBAL VARIABLES, for the texts. */
  variables?: readonly string[];
  /**
   * The numbers that `fault` compares, rates per second; a fault comes from the first. One that is no number is left
   * out, such as a share of nothing.
   */
  measures: (grown: Grown, facts: ServerFacts<T>) => [ServerMeasure, ...ServerMeasure[]];
  /** The fault of the server, or null; with a severity if it is not the check's own. */
  fault: (
    grown: Grown,
    facts: ServerFacts<T>,
  ) => (Omit<Fault, 'object' | 'severity'> & Partial<Fault>) | null;
  passMessage: (grown: Grown) => string;
}

/**
 * A check of server counters since the last run: at most one finding. Not volatile: it judges the whole interval
 * between two runs, not a moment. It needs neither a privilege nor performance_schema.
 */
export function counterCheck<T extends Thresholds>(given: CounterCheck<T>): Check<T & typeof MINIMUM> {
  const { severity, counters, status = [], variables = [], measures, fault, passMessage, ...check } = given;
  return {
    ...check,
    thresholds: { ...check.thresholds, ...MINIMUM },
    maxSeverity: severity,
    volatile: false,
    scope: 'server',
    comparesRuns: true,
    sql: () => [
      clock,
      ...figures({ status: [...counters, ...status, 'Uptime', 'Uptime_since_flush_status'], variables }),
    ],
    judge: (rows, facts) => {
      const { minimum_seconds } = facts.thresholds;
      const skip = (reason: string) => ({ skipped: `Not measured: ${reason}.` });
      const now = new Figures(rows);
      const began = beginnings(rows, now);
      const absent = counters.find((counter) => !now.has(counter));
      if (absent !== undefined) return skip(`this server has no counter ${absent}`);
      const { before } = facts;
      if (!before) return skip('it takes two runs, and this is the first');
      if (before.seconds < minimum_seconds)
        return skip(`the last run was less than ${minimum_seconds} s ago`);
      const last = new Figures(before.rows);
      const beganThen = beginnings(before.rows, last);
      if (differ(began.started, beganThen.started))
        return skip('the server was restarted since the last run');
      const by = (counter: string) =>
        last.has(counter) ? now.number(counter) - last.number(counter) : Number.NaN;
      if (differ(began.flushed, beganThen.flushed) || counters.some((counter) => by(counter) < 0))
        return skip('the statistics were reset since the last run');
      const grown = { by, minutes: Math.max(1, before.seconds / 60), now };
      const [first, ...more] = measures(grown, facts);
      const found = fault(grown, facts);
      return {
        faults: found
          ? [{ severity, object: null, measured: faultMeasure({ ...first, object: null }), ...found }]
          : [],
        passMessage: passMessage(grown),
        measures: [first, ...more]
          .filter(({ value }) => Number.isFinite(value))
          .map((each) => ({ ...each, object: null })),
      };
    },
  };
}

/** The server's time when a run began to read these rows: Unix, in seconds. */
function clockIn(rows: Row[]): number {
  return numberIn(rows.find((each) => 'clock' in each) ?? {}, 'clock');
}

/** When the server started and when its counters were reset, in seconds. */
function beginnings(rows: Row[], read: Figures): { started: number; flushed: number } {
  const at = clockIn(rows);
  return {
    started: at - read.number('Uptime'),
    flushed: at - read.number('Uptime_since_flush_status'),
  };
}

/**
 * A rate of the server. With `least`, it is compared with the rate at which it would have happened so often since the
 * last run.
 */
export function perSecond(metric: string, minutes: number, count: number, least?: number): ServerMeasure {
  const value = count / minutes / 60;
  return least === undefined
    ? { metric, value, operator: null, warning: null, critical: null }
    : { metric, value, operator: '>=', warning: least / minutes / 60, critical: null };
}

/** What a share is compared with, unless too little happened since the last run to judge it. */
export function shareScale(
  metric: string,
  { operator, enough, warning }: { operator: Operator; enough: boolean; warning: number },
): Omit<ServerMeasure, 'value'> {
  return enough
    ? { metric, operator, warning, critical: null }
    : { metric, operator: null, warning: null, critical: null };
}

function differ(one: number, other: number): boolean {
  return Math.abs(one - other) > SECONDS_OFF;
}
