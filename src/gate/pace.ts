import { setTimeout as wait } from 'node:timers/promises';
import { GateFull } from './gate-errors.ts';

/**
 * How fast one key's requests over its limit are answered, and so recorded: at ten times the pace of its limit, and never slower than
 * this, in requests a second. Figures: docs/decisions/0046.
 */
const SLOWEST_PACE = 50;
const TIMES_THE_LIMIT = 10;

/** So many are answered at once before the pace holds. */
const BURST = 1_500;

/** What has to wait for longer is refused; it leaves the gate half a second of the request's two. */
const LONGEST_WAIT_MS = 1_500;

// Of all keys. A key has 1,500 places at the gate.
const MOST_WAITING = 5_000;

/** What is remembered of a key. */
export interface Paced {
  /** Requests a minute, as the gate last said. */
  limit: number;
  /** When the last of its requests over the limit would be answered without any burst, on this process's monotonic clock in milliseconds. */
  pacedUntil: number;
}

/** Answers requests past a key's limit more slowly after a burst, so that they do not make the log grow without bound. */
export class Pacer {
  #waiting = 0;

  /** Null when it may go on at once; throws {@link GateFull} where too many wait. */
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
