import { setTimeout as wait } from 'node:timers/promises';

/** How long an account pauses for each millisecond that its requests took: it gets a quarter of the time at most. */
const PAUSE = 3;
const LONGEST_PAUSE_MS = 10_000;

/** The number of accounts after which those that need no pause are dropped. */
const REMEMBERED = 10_000;

/**
 * Keeps the requests of one account from taking all the time of this process, or the disk of the store. The next request of the
 * account waits for the longer, the more time the ones before took. Others do not wait.
 */
export class AccountPace {
  /** When the pause of an account ends. */
  readonly #until = new Map<number, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How long an account has to pause, in milliseconds. */
  pause(accountId: number): number {
    const left = (this.#until.get(accountId) ?? 0) - this.#now();
    return Math.min(Math.max(0, left), LONGEST_PAUSE_MS);
  }

  /** Resolves when the account may go on. */
  async wait(accountId: number): Promise<void> {
    const ms = this.pause(accountId);
    if (ms > 0) await wait(ms);
  }

  /** Runs `work`, and counts the time that it took. */
  async spend<T>(accountId: number, work: () => Promise<T>): Promise<T> {
    const began = this.#now();
    try {
      return await work();
    } finally {
      const now = this.#now();
      if (this.#until.size > REMEMBERED) this.#forget(now);
      this.#until.set(accountId, Math.max(now, this.#until.get(accountId) ?? 0) + PAUSE * (now - began));
    }
  }

  #forget(now: number): void {
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
  }
}
