import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CollectedAnswer } from '../collected/collected-look.ts';
import type { CollectedJob } from '../collected/hand-out.ts';
import { acceptJobs, acceptLooks, acceptNames, acceptTakes } from './accept-job.ts';
import { AwayPlan } from './away-plan.ts';
import { ResultBuffer } from './buffer.ts';
import { callService, hasNoRun, isBusy, isFinal, ServiceAway, ServiceRefused } from './call-service.ts';
import type { CollectorIdentity } from './collector-key.ts';
import type { CollectorLooks } from './collector-looks.ts';
import type { CollectorPulses } from './collector-pulses.ts';
import type { CollectorTargets } from './collector-target.ts';
import { toHistory, toReport } from './deliver.ts';
import { drainBuffer } from './drain-buffer.ts';
import { InvalidJob } from './job-fields.ts';
import { PulseSender } from './pulse-sender.ts';

/** What a collector needs to run. */
export interface CollectParts {
  identity: CollectorIdentity;
  /** Reads the collector's file again. Throws a sentence. */
  readTargets: () => CollectorTargets;
  version: string;
  /** How many health checks run at a time. */
  concurrency: number;
  /** Whether it takes pulses and shows the live view. */
  hasPulses: boolean;
  /** Where results wait while the service is away, and the most bytes of them. */
  buffer: { folder: string; largest: number };
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;
/** For as long a result is offered before it is kept: a service that restarts is back by then. */
const DELIVERY_MS = 15_000;
/** How often the plan is looked at while the service is away. */
const AWAY_MS = 1_000;

/**
 * Asks the service for runs, measures them and delivers the results, until the signal. While the service is away it goes on by the
 * schedule that it got last and keeps the results. It never ends by itself: a collector that was revoked goes on when it is enrolled again.
 */
export class Collector {
  readonly #parts: CollectParts;
  readonly #until: AbortSignal;
  readonly #running = new Map<string, Promise<void>>();
  /** Runs of its own plan. */
  readonly #ownRuns = new Set<Promise<void>>();
  readonly #buffer: ResultBuffer;
  readonly #plan: AwayPlan;
  /** Null until a connection has pulses. What an idle collector does not need is not loaded: it takes 40 MB. */
  #pulses: CollectorPulses | null = null;
  /** Null until a person watches. */
  #looks: CollectorLooks | null = null;
  #targets: CollectorTargets;
  /** Ends a question whose answer would be another one now. */
  #outdated = new AbortController();
  /** The fields that the service takes, of those that were added to requests. */
  #takes: ReadonlySet<string> = new Set();
  /** The free slots that the service was told of last. */
  #askedFree = 0;
  #problem: string | null = null;
  #isAway = false;
  #draining: Promise<void> | null = null;

  constructor(parts: CollectParts, until: AbortSignal) {
    this.#parts = parts;
    this.#until = until;
    this.#targets = parts.readTargets();
    this.#buffer = new ResultBuffer(parts.buffer.folder, parts.buffer.largest, parts.log);
    this.#plan = new AwayPlan(this.#buffer);
  }

  /** Runs until the signal. Runs that are under way then are given up: the service hands them out again. */
  async run(): Promise<void> {
    const measuringAway = this.#measureAway();
    await this.#pulse();
    let pause = FIRST_PAUSE_MS;
    while (!this.#until.aborted) {
      try {
        const jobs = await this.#ask();
        this.#note(null);
        pause = FIRST_PAUSE_MS;
        if (jobs.length > 0) this.#readTargets();
        for (const job of jobs) this.#start(job);
        await this.#pulse();
        this.#drain();
      } catch (error) {
        if (this.#until.aborted) break;
        if (this.#outdated.signal.aborted) continue;
        this.#note(error);
        await wait(pause * (0.5 + Math.random() / 2), undefined, { signal: this.#until }).catch(() => {});
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
    await Promise.all([this.#pulses?.end(), this.#looks?.end(), measuringAway, this.#draining]);
    await Promise.all([...this.#running.values(), ...this.#ownRuns]);
    this.#buffer.close();
  }

  get #free(): number {
    return Math.max(0, this.#parts.concurrency - this.#running.size - this.#ownRuns.size);
  }

  async #ask(): Promise<CollectedJob[]> {
    const { identity, version } = this.#parts;
    const free = this.#free;
    this.#askedFree = free;
    this.#outdated = new AbortController();
    const signal = AbortSignal.any([this.#until, this.#outdated.signal]);
    const question = {
      version,
      free,
      running: [...this.#running.keys()],
      ...(this.#takes.has('looking') && { looking: this.#looks?.names() ?? [] }),
      ...(this.#takes.has('buffered') && { buffered: this.#buffer.size() }),
    };
    const answer = await callService(identity, 'work', question, signal).catch((error: unknown) => {
      // It may be an older version than the one before.
      if (error instanceof ServiceRefused && error.status === 400) this.#takes = new Set();
      throw error;
    });
    const jobs = acceptJobs(answer);
    this.#takes = acceptTakes(answer) ?? this.#takes;
    const names = acceptNames(answer);
    if (names) this.#plan.keepOnly(names);
    if (this.#parts.hasPulses) await this.#look(acceptLooks(answer));
    return jobs;
  }

  #start(job: CollectedJob): void {
    if (this.#running.has(job.run)) return;
    this.#plan.learn(job);
    const run = this.#measure(job).finally(() => {
      this.#running.delete(job.run);
      if (this.#askedFree === 0) this.#outdated.abort();
    });
    this.#running.set(job.run, run);
  }

  /** Never throws. */
  async #measure(job: CollectedJob): Promise<void> {
    const { log } = this.#parts;
    const { connection, run } = job;
    const fields = { connection, run };
    const began = Date.now();
    try {
      const { runJob } = await import('./run-job.ts');
      const measured = await runJob(job, this.#targets, this.#until);
      this.#plan.measured(connection, began, measured.samples);
      const report = toReport(measured, this.#takes);
      const at = Date.now();
      try {
        const check = await this.#deliver({ run, ...(this.#takes.has('at') && { at }), measured: report });
        log.info({ ...fields, check }, 'health check delivered');
      } catch (error) {
        if (this.#until.aborted || (isFinal(error) && !hasNoRun(error))) throw error;
        if (this.#buffer.add(connection, at, toHistory(report)))
          log.info({ ...fields, reason: messageOf(error) }, 'health check kept until the service takes it');
      }
    } catch (error) {
      if (!this.#until.aborted)
        log.error({ ...fields, reason: messageOf(error) }, 'health check was not delivered');
    }
  }

  /** The id that the health check has in the service. */
  async #deliver(result: object): Promise<unknown> {
    const until = performance.now() + DELIVERY_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const stored = await callService(this.#parts.identity, 'result', result, this.#until);
        return (stored as { health_check_id?: unknown }).health_check_id;
      } catch (error) {
        const isLast = this.#isAway || performance.now() + pause > until;
        if (isFinal(error) || this.#until.aborted || isLast) throw error;
        await wait(pause, undefined, { signal: this.#until }).catch(() => {});
      }
    }
  }

  /** Runs what is due while the service is away. */
  async #measureAway(): Promise<void> {
    while (!this.#until.aborted) {
      await wait(AWAY_MS, undefined, { signal: this.#until }).catch(() => {});
      if (!this.#isAway || this.#until.aborted) continue;
      while (this.#free > 0) {
        const job = this.#plan.next(Date.now());
        if (!job) break;
        this.#readTargets();
        const run = this.#measureOwn(job).finally(() => this.#ownRuns.delete(run));
        this.#ownRuns.add(run);
      }
    }
  }

  /** Never throws. */
  async #measureOwn(job: Omit<CollectedJob, 'run'>): Promise<void> {
    const { connection } = job;
    const began = Date.now();
    try {
      const { runJob } = await import('./run-job.ts');
      const measured = await runJob(job, this.#targets, this.#until);
      this.#plan.measured(connection, began, measured.samples);
      this.#buffer.add(connection, Date.now(), toHistory(toReport(measured, this.#takes)));
    } catch (error) {
      if (!this.#until.aborted)
        this.#parts.log.error({ connection, reason: messageOf(error) }, 'health check failed');
    }
    this.#plan.ended(connection);
  }

  /** Lets the pulses be those of the last jobs and of the file. */
  async #pulse(): Promise<void> {
    const jobs = this.#plan.jobs();
    if (!this.#parts.hasPulses || !(this.#pulses || jobs.some(({ pulse }) => pulse))) return;
    this.#pulses ??= await this.#loadPulses();
    this.#pulses.update(jobs, this.#targets);
  }

  async #loadPulses(): Promise<CollectorPulses> {
    const { CollectorPulses } = await import('./collector-pulses.ts');
    const { identity, log } = this.#parts;
    const sender = new PulseSender(async (events) => {
      await callService(identity, 'pulse', { events }, this.#until);
    }, this.#until);
    return new CollectorPulses(sender, log);
  }

  /** Shows these connections to a person too. */
  async #look(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    this.#looks ??= await this.#loadLooks();
    this.#looks.start(names);
  }

  async #loadLooks(): Promise<CollectorLooks> {
    const { CollectorLooks } = await import('./collector-looks.ts');
    const { toLoaded } = await import('./collector-pulses.ts');
    const load = (connection: string) => {
      const job = this.#plan.jobs().find((one) => one.connection === connection);
      const known = this.#targets.get(connection);
      const loaded = job && toLoaded(job, known);
      if (!loaded) return null;
      return { loaded, tokenCommands: known?.tokenCommand ? { [connection]: known.tokenCommand } : {} };
    };
    const deliver = async (connection: string, answer: CollectedAnswer) => {
      const reply = await callService(this.#parts.identity, 'look', { connection, answer }, this.#until);
      return (reply as { watched?: unknown }).watched === true;
    };
    return new CollectorLooks({ load, deliver, ended: () => this.#outdated.abort() }, this.#until);
  }

  /** Delivers what waits, in the background. */
  #drain(): void {
    const { identity, log } = this.#parts;
    this.#draining ??= drainBuffer(this.#buffer, identity, log, this.#until).finally(() => {
      this.#draining = null;
    });
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
    // One that refuses is not away: what it refuses is not measured for it either.
    this.#isAway = error instanceof ServiceAway || isBusy(error);
    const problem = error === null ? null : messageOf(error);
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === null) log.info('the service gives work again');
    else if (this.#isAway) log.warn({ reason: problem }, 'the service is not reached');
    else if (error instanceof InvalidJob) log.error({ reason: problem }, 'the service sent what is no work');
    else log.error({ reason: problem }, 'the service refuses this collector');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
