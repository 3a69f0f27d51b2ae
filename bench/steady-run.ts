import { randomBytes } from 'node:crypto';
import type { CounterBefore } from '../src/monitor/counters.ts';
import { measure } from '../src/monitor/measure.ts';
import type { Measured } from '../src/monitor/nothing-measured.ts';
import type { NoteStep } from '../src/monitor/run-steps.ts';
import type { Target } from '../src/monitor/session/session.ts';
import type { KnownReading } from '../src/runs/changes/facts.ts';

const KEY = randomBytes(32).toString('base64');
/** Seconds between two runs, as they are told to the second. */
const BETWEEN_S = 60;

/** Runs against one server, each of which compares itself with the one before, as the monitor's do. */
export function steadyRuns(target: Target): (note?: NoteStep) => Promise<Measured> {
  let before: CounterBefore[] = [];
  const known = new Map<string, KnownReading>();
  return async (note = () => {}) => {
    const measured = await measure(target, {
      allowPrivateTargets: true,
      thresholds: {},
      before,
      facts: { key: KEY, known: [...known.values()], started: null },
      signal: AbortSignal.timeout(150_000),
      note,
    });
    for (const { stored: _, ...reading } of measured.readings) {
      known.set(`${reading.kind} ${reading.database}`, { ...reading, age: BETWEEN_S });
    }
    const read = measured.samples.map(({ after: _, ...sample }) => ({ ...sample, seconds: BETWEEN_S }));
    const kept = before.filter(
      (one) => !read.some(({ checkId, database }) => checkId === one.checkId && database === one.database),
    );
    before = JSON.parse(JSON.stringify([...kept, ...read]));
    return measured;
  };
}
