import type { Logger } from 'pino';
import { skippedLine } from '../checks/judgement-of.ts';
import { cleanText } from '../platform/text/clean-text.ts';
import type { ConnectionKey } from './monitor-deps.ts';
import type { Sample } from './outcome.ts';

// Long enough for the output of a crashed child, short enough that long names from a server don't fill the disk.
const LONGEST_FACT = 8_000;

/** The details of a step: names, figures, and texts that may come from a monitored server. Never a credential. */
export type Facts = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Logs a step of a run. */
export type NoteStep = (step: string, facts: Facts) => void;

/**
 * Logs the steps of a connection's run. Undefined unless the log level is debug, so that steps cost nothing
 * otherwise.
 */
export function stepsOf(
  log: Pick<Logger, 'debug' | 'isLevelEnabled'>,
  { accountId, connectionId }: ConnectionKey,
): NoteStep | undefined {
  if (!log.isLevelEnabled('debug')) return undefined;
  return (step, facts) => {
    const cleaned = Object.entries(facts).map(([name, fact]) => [name, cleanFact(fact)]);
    log.debug({ accountId, connectionId, step, ...Object.fromEntries(cleaned) }, 'health check step');
  };
}

/** Whole milliseconds since `began`. */
export function msSince(began: number): number {
  return Math.round(performance.now() - began);
}

/** Cleans line by line, so that a stack trace stays readable. */
function cleanFact(fact: Facts[string]): Facts[string] {
  if (typeof fact !== 'string') return fact;
  return fact
    .slice(0, LONGEST_FACT)
    .split('\n')
    .map((line) => cleanText(line, LONGEST_FACT))
    .join('\n');
}

/** What a step says about a check that was measured. */
export function factsOf(sample: Sample): Facts {
  if ('failed' in sample) return { status: sample.status, reason: sample.failed };
  const { judgement } = sample;
  return 'skipped' in judgement
    ? { status: 'skipped', reason: skippedLine(judgement) }
    : { status: 'measured', faults: judgement.faults.length };
}
