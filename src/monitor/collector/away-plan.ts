import { isDeepStrictEqual } from 'node:util';
import type { CollectedJob } from '../collected/hand-out.ts';
import type { CounterBefore, CounterSample } from '../counters.ts';
import { acceptJob } from './accept-job.ts';
import type { ResultBuffer } from './buffer.ts';

/** A run of the collector's own, by the schedule that it got last. */
export type AwayJob = Omit<CollectedJob, 'run'>;

interface Planned {
  job: AwayJob;
  /** When it was measured last: milliseconds since 1970. */
  began: number | null;
  /** What that run counted, for the checks that compare runs. */
  samples: readonly CounterSample[];
  isRunning: boolean;
}

/** No run has this id: it stands for the one that the service would give. */
const NO_RUN = '00000000-0000-0000-0000-000000000000';

/**
 * What a collector measures while the service is away: each connection by its last job, as often as the service said. What changes and
 * queries are compared with is left to the service, which compares with its own last run when it is back.
 */
export class AwayPlan {
  readonly #buffer: ResultBuffer;
  readonly #connections = new Map<string, Planned>();

  constructor(buffer: ResultBuffer) {
    this.#buffer = buffer;
    for (const { connection, job, began } of buffer.plans()) {
      const known = parsePlan(job);
      if (known) this.#connections.set(connection, { job: known, began, samples: [], isRunning: false });
    }
  }

  /** Takes the settings of a job that the service gave. */
  learn({ run: _run, ...job }: CollectedJob): void {
    const { connection, engine, every, instructions, pulse } = job;
    const { thresholds, expectedStandbys = 0, own = [] } = instructions;
    const kept = { thresholds, expectedStandbys, own, before: [], facts: null };
    const settings = { connection, engine, every, instructions: kept, pulse };
    const known = this.#connections.get(connection);
    const { samples = [], isRunning = false } = known ?? {};
    const planned = { job: settings, began: Date.now(), samples, isRunning };
    this.#connections.set(connection, planned);
    if (!isDeepStrictEqual(known?.job, settings)) this.#keep(planned);
  }

  /** Forgets the connections that the service does not name. */
  keepOnly(names: readonly string[]): void {
    const kept = new Set(names);
    for (const name of this.#connections.keys()) {
      if (kept.has(name)) continue;
      this.#connections.delete(name);
      this.#buffer.dropPlan(name);
    }
  }

  /** All that it knows. */
  jobs(): AwayJob[] {
    return [...this.#connections.values()].map(({ job }) => job);
  }

  /** The job that is due for the longest time; null = none is. It runs until {@link ended}. */
  next(now: number): AwayJob | null {
    const due = [...this.#connections.values()]
      .filter(({ job, began, isRunning }) => !isRunning && dueAt(job, began, now) <= now)
      .sort((one, other) => dueAt(one.job, one.began, now) - dueAt(other.job, other.began, now));
    const [first] = due;
    if (!first) return null;
    const { job, samples, began } = first;
    first.isRunning = true;
    first.began = now;
    const isComparable = began !== null && began <= now;
    const before = !isComparable ? [] : samples.map((sample) => toBefore(sample, (now - began) / 1_000));
    return { ...job, instructions: { ...job.instructions, before } };
  }

  /** A run of the connection that began then has measured, with what it counted. */
  measured(connection: string, began: number, samples: readonly CounterSample[]): void {
    const planned = this.#connections.get(connection);
    if (!planned) return;
    planned.began = began;
    if (samples.length > 0) planned.samples = samples;
  }

  /** A run of {@link next} has ended. Its time is kept for a collector that starts anew. */
  ended(connection: string): void {
    const planned = this.#connections.get(connection);
    if (!planned) return;
    planned.isRunning = false;
    this.#keep(planned);
  }

  #keep({ job, began }: Planned): void {
    this.#buffer.keepPlan({
      connection: job.connection,
      job: JSON.stringify({ ...job, run: NO_RUN }),
      began,
    });
  }
}

/** A clock that was set back must not let a connection wait for as long. */
function dueAt({ every }: AwayJob, began: number | null, now: number): number {
  if (every === null) return Number.POSITIVE_INFINITY;
  return began === null || began > now ? 0 : began + every * 1_000;
}

function toBefore({ checkId, database, after, rows }: CounterSample, age: number): CounterBefore {
  return { checkId, database, seconds: age - after, rows };
}

/** Null if another version stored it. */
function parsePlan(text: string): AwayJob | null {
  try {
    const { run: _run, ...job } = acceptJob(JSON.parse(text));
    return job;
  } catch {
    return null;
  }
}
