import type { Logger } from 'pino';
import { cleanText } from './clean-text.ts';
import type { ConnectionKey } from './run.ts';

// What a child that crashed printed fits, and a server that tells long names fills no disk.
const LONGEST_FACT = 8_000;

/** What is told of a step: names, figures, and texts that a monitored server may have had a part in. Never a credential. */
export type Facts = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Tells of a step of a run. */
export type NoteStep = (step: string, facts: Facts) => void;

/** Logs the steps of a connection's run; undefined unless the log is at debug, so that they cost nothing else. */
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

/** Whole milliseconds since then. */
export function msSince(began: number): number {
  return Math.round(performance.now() - began);
}

/** Line by line: a stack stays readable. */
function cleanFact(fact: Facts[string]): Facts[string] {
  if (typeof fact !== 'string') return fact;
  return fact
    .slice(0, LONGEST_FACT)
    .split('\n')
    .map((line) => cleanText(line, LONGEST_FACT))
    .join('\n');
}
