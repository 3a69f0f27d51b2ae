import type { Check, Fault, Row, ServerFacts, Thresholds } from '../check.ts';
import { numberIn } from '../columns.ts';
import { Figures, figures } from './figures.ts';

/** Under so many seconds between two runs a check that counts is skipped; connections are run every 10 s at the most. */
const MINIMUM = { minimum_seconds: 5 };

/** Uptime is told in whole seconds, and a moment before or after the clock. */
const SECONDS_OFF = 3;

const clock = 'select unix_timestamp() as clock';

/** What counters rose by since the last run, and the variables, as they are now. */
export interface Grown {
  by: (counter: string) => number;
  /** Since the last run: a minute at least, so that a few seconds are not blown up. */
  minutes: number;
  now: Figures;
}

/** What differs between the checks that judge how much counters rose between two runs. */
interface CounterCheck<T extends Thresholds> extends Pick<Check, 'id' | 'title' | 'category'> {
  severity: Fault['severity'];
  thresholds: T;
  /** Of SHOW GLOBAL STATUS; only ever rising. */
  counters: readonly string[];
  /** Of SHOW GLOBAL VARIABLES, for the texts. */
  variables?: readonly string[];
  /** The fault that the server is, or null; the severity where it is not the check's own. */
  fault: (
    grown: Grown,
    facts: ServerFacts<T>,
  ) => (Omit<Fault, 'object' | 'severity'> & Partial<Fault>) | null;
  passMessage: (grown: Grown) => string;
}

/**
 * A check of what the server counted since the last run: at most one finding. Not volatile: it judges the whole time
 * between two runs, not a moment. No privilege is needed, nor performance_schema.
 */
export function counterCheck<T extends Thresholds>(given: CounterCheck<T>): Check<T & typeof MINIMUM> {
  const { severity, counters, variables = [], fault, passMessage, ...check } = given;
  return {
    ...check,
    thresholds: { ...check.thresholds, ...MINIMUM },
    maxSeverity: severity,
    volatile: false,
    scope: 'server',
    comparesRuns: true,
    sql: () => [
      clock,
      ...figures({ status: [...counters, 'Uptime', 'Uptime_since_flush_status'], variables }),
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
      const by = (counter: string) => now.number(counter) - last.number(counter);
      if (differ(began.flushed, beganThen.flushed) || counters.some((counter) => by(counter) < 0))
        return skip('the statistics were reset since the last run');
      const grown = { by, minutes: Math.max(1, before.seconds / 60), now };
      const found = fault(grown, facts);
      return {
        faults: found ? [{ severity, object: null, ...found }] : [],
        passMessage: passMessage(grown),
      };
    },
  };
}

/** The instants, in seconds, at which the server started and at which its counting began. */
function beginnings(rows: Row[], read: Figures): { started: number; flushed: number } {
  const row = rows.find((each) => 'clock' in each) ?? {};
  const at = numberIn(row, 'clock');
  return {
    started: at - read.number('Uptime'),
    flushed: at - read.number('Uptime_since_flush_status'),
  };
}

function differ(one: number, other: number): boolean {
  return Math.abs(one - other) > SECONDS_OFF;
}
