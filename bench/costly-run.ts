import { randomBytes } from 'node:crypto';
import { measure } from '../src/monitor/measure.ts';
import type { Measured } from '../src/monitor/nothing-measured.ts';
import type { Target } from '../src/monitor/session/session.ts';
import { serverSeconds } from './cost.ts';

const SLOWEST = 10;

/** What a run cost. */
export interface RunCost {
  /** The server's processor time. */
  seconds: number;
  /** The checks and vitals that took most of it. */
  slowest: { id: string; seconds: number }[];
  measured: Measured;
}

/** Measures the processor time that a server spends on a run that reads everything, as the first one of an hour does. */
export async function costlyRun(target: Target, pid: number): Promise<RunCost> {
  const began = serverSeconds(pid);
  let last = began;
  const spent: { id: string; seconds: number }[] = [];
  const measured = await measure(target, {
    allowPrivateTargets: true,
    thresholds: {},
    signal: AbortSignal.timeout(150_000),
    facts: { key: randomBytes(32).toString('base64'), known: [], started: null },
    note: (step, { check_id }) => {
      if (step !== 'check' && step !== 'vitals') return;
      const now = serverSeconds(pid);
      spent.push({ id: String(check_id), seconds: now - last });
      last = now;
    },
  });
  return {
    seconds: serverSeconds(pid) - began,
    slowest: spent.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST),
    measured,
  };
}

/** Prints how many checks have each status, and what took longest. */
export function printRun({ slowest, measured }: RunCost): void {
  const findings = measured.outcomes.flatMap((outcome) => outcome.findings);
  for (const [status, found] of Map.groupBy(findings, (finding) => finding.status)) {
    const ids = [...new Set(found.map(({ check_id }) => check_id))];
    const named = status === 'error' || status === 'warning' ? ` (${ids.join(' ')})` : '';
    console.log(`  ${status}: ${ids.length}${named}`);
  }
  for (const { id, seconds } of slowest) console.log(`  ${id}: ${seconds.toFixed(2)} s`);
}
