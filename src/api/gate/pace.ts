import { setTimeout as wait } from 'node:timers/promises';

/**
 * The lowest rate, in requests a second, at which a key's requests over its limit are answered and recorded. The rate is ten
 * times the key's limit, if that is more. Figures: docs/decisions/0007.
 */
const SLOWEST_PACE = 50;
const TIMES_THE_LIMIT = 10;

/** How many are answered at once before the rate applies. */
const BURST = 1_500;

/**
 * No request waits longer, so that clients do not give up and no connection looks idle. A key that has more requests waiting
 * than its pace can answer in this time is answered at a higher one.
 */
const LONGEST_WAIT_MS = 5_000;

// For all keys together. Each of them occupies a connection, and other clients need some. Beyond it requests do not wait.
const MOST_WAITING = 3_000;

/** What is remembered about a key. */
export interface Paced {
  /** Requests per minute, as the gate last reported. */
  limit: number;
  /** When the last of its requests over the limit would be answered without any burst, on this process's monotonic clock in milliseconds. */
  pacedUntil: number;
}

/**
 * After a burst, slows down answers to requests over a key's limit, so that they do not make the log grow without bound. No
 * request is rejected: while it waits, nothing more is read from its connection.
 */
export class Pacer {
  #waiting = 0;

  /** Null if the request need not wait. */
  turn(key: Paced, now = performance.now()): Promise<void> | null {
    const step = 1_000 / Math.max(SLOWEST_PACE, (TIMES_THE_LIMIT * key.limit) / 60);
    const burst = BURST * step;
    key.pacedUntil = Math.min(Math.max(key.pacedUntil, now) + step, now + burst + LONGEST_WAIT_MS);
    const delay = key.pacedUntil - now - burst;
    if (delay <= 0 || this.#waiting >= MOST_WAITING) return null;
    this.#waiting += 1;
    return wait(delay).finally(() => {
      this.#waiting -= 1;
    });
  }
}
