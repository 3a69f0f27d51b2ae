import { setTimeout as wait } from 'node:timers/promises';
import { GateFull } from './gate-errors.ts';

/**
 * The lowest rate, in requests a second, at which a key's requests over its limit are answered and recorded. The rate is ten
 * times the key's limit, if that is more. Figures: docs/decisions/0046.
 */
const SLOWEST_PACE = 50;
const TIMES_THE_LIMIT = 10;

/** How many are answered at once before the rate applies. */
const BURST = 1_500;

/** A request that must wait longer is rejected. This leaves the gate half a second of the request's two. */
const LONGEST_WAIT_MS = 1_500;

// For all keys together. A single key has 1,500 places at the gate.
const MOST_WAITING = 5_000;

/** What is remembered about a key. */
export interface Paced {
  /** Requests per minute, as the gate last reported. */
  limit: number;
  /** When the last of its requests over the limit would be answered without any burst, on this process's monotonic clock in milliseconds. */
  pacedUntil: number;
}

/** After a burst, slows down answers to requests over a key's limit, so that they do not make the log grow without bound. */
export class Pacer {
  #waiting = 0;

  /** Null = the request need not wait. Throws {@link GateFull} if too many wait. */
  turn(key: Paced, now = performance.now()): Promise<void> | null {
    const step = 1_000 / Math.max(SLOWEST_PACE, (TIMES_THE_LIMIT * key.limit) / 60);
    const next = Math.max(key.pacedUntil, now) + step;
    const delay = next - now - BURST * step;
    if (delay > LONGEST_WAIT_MS || (delay > 0 && this.#waiting >= MOST_WAITING)) {
      throw new GateFull('too many requests over the limit', LONGEST_WAIT_MS);
    }
    key.pacedUntil = next;
    if (delay <= 0) return null;
    this.#waiting += 1;
    return wait(delay).finally(() => {
      this.#waiting -= 1;
    });
  }
}
