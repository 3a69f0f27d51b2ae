import { Rejection } from '../platform/rejection.ts';

/** Per minute, in requests of cost 1; and how many requests may run at the same time, streams counted separately. */
const SESSION = { perMinute: 600, atOnce: 20, streams: 6 };
const ACCOUNT = { perMinute: 3_000, atOnce: 60, streams: 30 };

/** Every so many bytes of an answer cost one more request: a fleet of 10,000 connections costs about 60. */
const BYTES = 64 * 1024;

/** Every so many milliseconds of the store's time cost one more request. A read of a page takes less. */
const STORE_MS = 100;

/** The number of accounts and sessions after which those with a full budget are dropped. */
const REMEMBERED = 10_000;

type Limits = typeof SESSION;

/** A token bucket that refills over a minute. */
class Purse {
  readonly #limits: Limits;
  #left: number;
  #at: number;
  requests = 0;
  streams = 0;

  constructor(limits: Limits, now: number) {
    this.#limits = limits;
    this.#left = limits.perMinute;
    this.#at = now;
  }

  /** Seconds until the next request is allowed; 0 = now. */
  wait(now: number): number {
    this.#fill(now);
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) * 60) / this.#limits.perMinute);
  }

  /** A large cost may overdraw the budget, so that the next request is allowed within a minute. */
  spend(cost: number): void {
    this.#left = Math.max(this.#left - cost, 1 - this.#limits.perMinute);
  }

  isFull(isStream: boolean): boolean {
    return isStream ? this.streams >= this.#limits.streams : this.requests >= this.#limits.atOnce;
  }

  isUnused(now: number): boolean {
    this.#fill(now);
    return this.requests === 0 && this.streams === 0 && this.#left === this.#limits.perMinute;
  }

  #fill(now: number): void {
    const { perMinute } = this.#limits;
    this.#left = Math.min(perMinute, this.#left + ((now - this.#at) / 60_000) * perMinute);
    this.#at = now;
  }
}

/** An admitted request. */
export interface Visit {
  /** Charges for the answer's length, in bytes. */
  charge(bytes: number): void;
  /** Charges for the time that a read really took, in milliseconds. */
  chargeTime(ms: number): void;
  /** Ends the request; idempotent. */
  leave(): void;
}

/**
 * Limits what sessions and accounts may request from the console, per minute and at the same time, so that one tenant's
 * loops don't slow down the others. Counted in this process, which handles all console requests of a service.
 */
export class Budget {
  /** By session token; only existing sessions. */
  readonly #sessions = new Map<string, { purse: Purse; account: Purse }>();
  readonly #accounts = new Map<number, Purse>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws 429 for a token whose budget is spent, before any query to the store. */
  requireLeft(token: string | null): void {
    const known = token === null ? undefined : this.#sessions.get(token);
    if (!known) return;
    const now = this.#now();
    const seconds = Math.max(known.purse.wait(now), known.account.wait(now));
    if (seconds > 0) throw tooMany(seconds);
  }

  /** Admits a request of a session at the price of `cost` requests. Throws 429. */
  enter(token: string, accountId: number, { cost, isStream }: { cost: number; isStream: boolean }): Visit {
    const now = this.#now();
    const purses = this.#pursesOf(token, accountId, now);
    for (const purse of purses) {
      const seconds = purse.wait(now);
      if (seconds > 0) throw tooMany(seconds);
      if (purse.isFull(isStream)) throw tooMany(1);
    }
    const place = isStream ? 'streams' : 'requests';
    for (const purse of purses) {
      purse.spend(cost);
      purse[place] += 1;
    }
    let left = false;
    return {
      charge(bytes) {
        for (const purse of purses) purse.spend(Math.floor(bytes / BYTES));
      },
      chargeTime(ms) {
        for (const purse of purses) purse.spend(Math.floor(ms / STORE_MS));
      },
      leave() {
        if (left) return;
        left = true;
        for (const purse of purses) purse[place] -= 1;
      },
    };
  }

  #pursesOf(token: string, accountId: number, now: number): Purse[] {
    const account = this.#accounts.get(accountId) ?? new Purse(ACCOUNT, now);
    const purse = this.#sessions.get(token)?.purse ?? new Purse(SESSION, now);
    if (this.#accounts.size + this.#sessions.size > REMEMBERED) this.#forget(now);
    this.#accounts.set(accountId, account);
    this.#sessions.set(token, { purse, account });
    return [purse, account];
  }

  #forget(now: number): void {
    for (const [token, { purse }] of this.#sessions) if (purse.isUnused(now)) this.#sessions.delete(token);
    for (const [id, purse] of this.#accounts) if (purse.isUnused(now)) this.#accounts.delete(id);
  }
}

function tooMany(seconds: number): Rejection {
  const when = seconds === 1 ? 'a second' : `${seconds} seconds`;
  return new Rejection('too_many_attempts', `Too many requests. Wait ${when}, then try again.`, {
    retryAfter: seconds,
  });
}
