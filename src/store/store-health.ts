import type pg from 'pg';
import { errorFields, isStoreFailure } from './store-failure.ts';

// How often the store is probed: while it works, and while it fails.
const EVERY_MS = 5_000;
const EVERY_FAILING_MS = 1_000;

// A store that answers the probe may still fail requests. It counts as back only after this time without a failed request.
const QUIET_MS = 5_000;

// How often each of the two lines is logged at most, however often the store fails and recovers.
const LOG_EVERY_MS = 10_000;

const reading = 'select 1';

// Writes to disk like a request does, to tables and to the write-ahead log, and leaves nothing. Runs only while requests fail.
const writing = `
  create temporary table dbvitals_probe (filler text) on commit drop;
  insert into dbvitals_probe select repeat('x', 4000)`;

/** The methods used of a logger. */
interface Log {
  isLevelEnabled(level: string): boolean;
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

interface Incident {
  began: number;
  /** When the last request failed. */
  failed: number;
  requests: number;
}

/**
 * Tracks whether the store works for requests, including writes: a store with a full disk still answers a SELECT. It counts
 * failed requests and committed batches, and probes the store if there are none. An outage is two lines in the log.
 */
export class StoreHealth {
  readonly #pool: pg.Pool;
  readonly #log: Log;
  #incident: Incident | null = null;
  #logged = { lost: Number.NEGATIVE_INFINITY, isTold: false };
  #timer: NodeJS.Timeout;

  constructor(pool: pg.Pool, log: Log) {
    this.#pool = pool;
    this.#log = log;
    this.#timer = setTimeout(() => void this.#probe(), EVERY_MS).unref();
  }

  /** Whether requests currently fail because of the store. */
  get failing(): boolean {
    return this.#incident !== null;
  }

  /** Records a failed request. Returns false if the store was not the cause, so that the caller logs the error. */
  failed(error: unknown): boolean {
    if (!isStoreFailure(error)) return false;
    this.#fail(error);
    if (this.#incident) {
      this.#incident.requests += 1;
      this.#incident.failed = performance.now();
    }
    return true;
  }

  /** Records a committed batch of requests. */
  succeeded(): void {
    if (this.#incident) this.#recover(this.#incident);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #probe(): Promise<void> {
    const incident = this.#incident;
    try {
      await this.#pool.query(incident ? writing : reading);
      const quiet = performance.now() - (incident?.failed ?? 0) >= QUIET_MS;
      if (incident && incident === this.#incident && quiet) this.#recover(incident);
    } catch (error) {
      this.#fail(error);
    }
    this.#again();
  }

  #again(): void {
    clearTimeout(this.#timer);
    const pause = this.#incident ? EVERY_FAILING_MS : EVERY_MS;
    this.#timer = setTimeout(() => void this.#probe(), pause).unref();
  }

  #fail(error: unknown): void {
    if (this.#incident) return;
    const now = performance.now();
    this.#incident = { began: now, failed: Number.NEGATIVE_INFINITY, requests: 0 };
    this.#again();
    const isTold = now - this.#logged.lost >= LOG_EVERY_MS;
    this.#logged = { lost: isTold ? now : this.#logged.lost, isTold };
    if (isTold) this.#log.error(errorFields(error, this.#log), 'the store fails: requests are answered 500');
  }

  #recover({ began, requests }: Incident): void {
    this.#incident = null;
    if (!this.#logged.isTold) return;
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    this.#log.info({ seconds, failed_requests: requests }, 'the store is back');
  }
}
