import { Rejection } from '../platform/rejection.ts';

/** How many requests of an account wait at most, and how long, in milliseconds. */
const MOST_WAITING = 40;
const LONGEST_WAIT_MS = 5_000;

/**
 * The part of a connection that an account may use all the time, and how many milliseconds of more use it may owe until it gets one
 * place only. A page's reads together take less.
 */
const SHARE = 0.25;
const MOST_OWED_MS = 500;

/** The number of accounts after which those that owe nothing are dropped. */
const REMEMBERED = 10_000;

interface Waiting {
  since: number;
  start: () => void;
  reject: (rejection: Rejection) => void;
}

/** How the connections of a pool are shared. */
export interface Places {
  /** How many requests run at a time: fewer than the pool has connections, so that sessions can always be looked up. */
  all: number;
  /** How many of these may be one account's. */
  ofAccount: number;
}

/** What an account uses now, and has used beyond its share lately. */
class Use {
  running = 0;
  #owedMs = 0;
  #at: number;

  constructor(now: number) {
    this.#at = now;
  }

  /** Counts what runs now too, so that an account pays for long requests before they end. */
  owedMs(now: number): number {
    this.#owedMs = Math.max(0, this.#owedMs + (this.running - SHARE) * (now - this.#at));
    this.#at = now;
    return this.#owedMs;
  }

  change(by: 1 | -1, now: number): void {
    this.owedMs(now);
    this.running += by;
  }
}

/**
 * Shares the connections of a pool among accounts. While several accounts wait they take turns, so one account's slow requests
 * delay another account by one of them, and the account that sends more than its share gets 429 itself. An account that has used
 * more than its share gets only one place, even while nobody waits, so that the next account finds a free one.
 */
export class AccountTurns {
  readonly #places: Places;
  readonly #now: () => number;
  #running = 0;
  readonly #uses = new Map<number, Use>();
  /** By account, in the order of their turns. */
  readonly #waiting = new Map<number, Waiting[]>();

  constructor(places: Places, now: () => number = () => performance.now()) {
    this.#places = places;
    this.#now = now;
  }

  /** Runs `work` at the account's turn. Throws 429 if too many of its own wait, or if they wait too long. */
  async run<T>(accountId: number, work: () => Promise<T>): Promise<T> {
    if (this.#hasPlace(accountId)) this.#enter(accountId);
    else await this.#wait(accountId);
    try {
      return await work();
    } finally {
      this.#leave(accountId);
    }
  }

  #hasPlace(accountId: number): boolean {
    if (this.#running >= this.#places.all) return false;
    const use = this.#uses.get(accountId);
    if (use === undefined || use.running === 0) return true;
    return use.running < this.#places.ofAccount && use.owedMs(this.#now()) <= MOST_OWED_MS;
  }

  #enter(accountId: number): void {
    this.#running += 1;
    const now = this.#now();
    if (this.#uses.size > REMEMBERED) this.#forget(now);
    const use = this.#uses.get(accountId) ?? new Use(now);
    this.#uses.set(accountId, use);
    use.change(1, now);
  }

  #forget(now: number): void {
    for (const [id, use] of this.#uses) if (use.running === 0 && use.owedMs(now) === 0) this.#uses.delete(id);
  }

  #wait(accountId: number): Promise<void> {
    const own = this.#waiting.get(accountId) ?? [];
    if (own.length >= MOST_WAITING) throw tooManyRequests;
    return new Promise((start, reject) => {
      own.push({ since: this.#now(), start, reject });
      this.#waiting.set(accountId, own);
    });
  }

  #leave(accountId: number): void {
    this.#running -= 1;
    this.#uses.get(accountId)?.change(-1, this.#now());
    for (const [waitingId, own] of this.#waiting) {
      if (!this.#hasPlace(waitingId)) continue;
      // Its next turn comes after those of all other accounts.
      this.#waiting.delete(waitingId);
      const next = this.#firstInTime(own);
      if (own.length > 0) this.#waiting.set(waitingId, own);
      if (next === undefined) continue;
      this.#enter(waitingId);
      next.start();
      return;
    }
  }

  #firstInTime(own: Waiting[]): Waiting | undefined {
    for (let next = own.shift(); next !== undefined; next = own.shift()) {
      if (this.#now() - next.since <= LONGEST_WAIT_MS) return next;
      next.reject(tooManyRequests);
    }
    return undefined;
  }
}

const tooManyRequests = new Rejection(
  'too_many_attempts',
  'Your account sends more requests than its share. Wait 5 seconds, then try again.',
  { retryAfter: 5 },
);

const turns = new WeakMap<object, AccountTurns>();

/** The turns of a pool: whoever uses its connections for accounts takes them by the same places. */
export function turnsOn(pool: object, places: Places): AccountTurns {
  const own = turns.get(pool) ?? new AccountTurns(places);
  turns.set(pool, own);
  return own;
}
