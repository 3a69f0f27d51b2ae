import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CollectedJob } from '../collected/hand-out.ts';
import { acceptJobs, InvalidJob } from './accept-job.ts';
import { callService, ServiceAway, ServiceRefused } from './call-service.ts';
import type { CollectorIdentity } from './collector-key.ts';
import type { CollectorTargets } from './collector-target.ts';
import { toReport } from './deliver.ts';
import { runJob } from './run-job.ts';

/** What a collector needs to run. */
export interface CollectParts {
  identity: CollectorIdentity;
  /** Reads the collector's file again. Throws a sentence. */
  readTargets: () => CollectorTargets;
  version: string;
  /** How many health checks run at a time. */
  concurrency: number;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** For as long a result is offered: after that the service has handed the run out again. */
const DELIVERY_MS = 150_000;

/** Statuses after which the same request would be refused again. */
const isFinal = (error: unknown) => error instanceof ServiceRefused && error.status !== 429;

/**
 * Asks the service for runs, measures them and delivers the results, until the signal. It waits for as long as the service is away,
 * and never ends by itself: a collector that was revoked goes on when it is enrolled again.
 */
export class Collector {
  readonly #parts: CollectParts;
  readonly #until: AbortSignal;
  readonly #running = new Map<string, Promise<void>>();
  #targets: CollectorTargets;
  /** Ends the question that was asked without a free slot, when one becomes free. */
  #freed = new AbortController();
  #problem: string | null = null;

  constructor(parts: CollectParts, until: AbortSignal) {
    this.#parts = parts;
    this.#until = until;
    this.#targets = parts.readTargets();
  }

  /** Runs until the signal. Runs that are under way then are given up: the service hands them out again. */
  async run(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (!this.#until.aborted) {
      try {
        const jobs = await this.#ask();
        this.#note(null);
        pause = FIRST_PAUSE_MS;
        if (jobs.length > 0) this.#readTargets();
        for (const job of jobs) this.#start(job);
      } catch (error) {
        if (this.#until.aborted) break;
        if (this.#freed.signal.aborted) continue;
        this.#note(error);
        await wait(pause * (0.5 + Math.random() / 2), undefined, { signal: this.#until }).catch(() => {});
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
    await Promise.all(this.#running.values());
  }

  async #ask(): Promise<CollectedJob[]> {
    const { identity, version, concurrency } = this.#parts;
    const free = Math.max(0, concurrency - this.#running.size);
    this.#freed = new AbortController();
    const signal = free === 0 ? AbortSignal.any([this.#until, this.#freed.signal]) : this.#until;
    const content = { version, free, running: [...this.#running.keys()] };
    return acceptJobs(await callService(identity, 'work', content, signal));
  }

  #start(job: CollectedJob): void {
    if (this.#running.has(job.run)) return;
    const run = this.#measure(job).finally(() => {
      this.#running.delete(job.run);
      this.#freed.abort();
    });
    this.#running.set(job.run, run);
  }

  /** Never throws. */
  async #measure(job: CollectedJob): Promise<void> {
    const { log } = this.#parts;
    const fields = { connection: job.connection, run: job.run };
    try {
      const measured = await runJob(job, this.#targets, this.#until);
      await this.#deliver(job.run, toReport(measured));
      log.info(fields, 'health check delivered');
    } catch (error) {
      if (!this.#until.aborted)
        log.error({ ...fields, reason: messageOf(error) }, 'health check was not delivered');
    }
  }

  async #deliver(run: string, measured: object): Promise<void> {
    const until = performance.now() + DELIVERY_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        await callService(this.#parts.identity, 'result', { run, measured }, this.#until);
        return;
      } catch (error) {
        if (isFinal(error) || this.#until.aborted || performance.now() + pause > until) throw error;
        await wait(pause, undefined, { signal: this.#until }).catch(() => {});
      }
    }
  }

  /** A file that is being edited is read at the next run; until then the connections stay as they are. */
  #readTargets(): void {
    try {
      this.#targets = this.#parts.readTargets();
    } catch (error) {
      this.#parts.log.error(
        { reason: messageOf(error) },
        'the file of the collector is not used: it has a problem',
      );
    }
  }

  /** Logs why the service gives no work, once for each reason, and that it does again. */
  #note(error: unknown): void {
    const { log } = this.#parts;
    const problem = error === null ? null : messageOf(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === null) log.info('the service gives work again');
    else if (error instanceof ServiceAway) log.warn({ reason: problem }, 'the service is not reached');
    else if (error instanceof InvalidJob) log.error({ reason: problem }, 'the service sent what is no work');
    else log.error({ reason: problem }, 'the service refuses this collector');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
