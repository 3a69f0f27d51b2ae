import { ConsoleError } from './errors.ts';

/** Of a minute, in requests of the usual cost; and how many requests may be under way at once, streams among them apart. */
const SESSION = { perMinute: 600, atOnce: 20, streams: 6 };
const ACCOUNT = { perMinute: 3_000, atOnce: 60, streams: 30 };

/** An answer costs a request more for each of these, in bytes: a fleet of 10,000 connections is some 60. */
const BYTES = 64 * 1024;

/** Accounts and sessions that are remembered before those with a whole budget are forgotten. */
const REMEMBERED = 10_000;

type Limits = typeof SESSION;

/** What is left of a budget, which fills up over a minute. */
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

  /** Seconds until a request may be made; 0 = now. */
  wait(now: number): number {
    this.#fill(now);
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) * 60) / this.#limits.perMinute);
  }

  /** A large cost may leave a debt of a minute at most. */
  spend(cost: number): void {
    this.#left = Math.max(this.#left - cost, -this.#limits.perMinute);
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

/** A request that was let in. */
export interface Visit {
  /** Told of the answer's length, in bytes. */
  charge(bytes: number): void;
  /** The request is over; once however often it is called. */
  leave(): void;
}

/**
 * What sessions and accounts may ask of the console: so much a minute and so much at once, so that one tenant's loops leave
 * the service to the others. Counted in this process, which has all of a service's requests for the console.
 */
export class Budget {
  /** By the session's token: only of sessions that were found. */
  readonly #sessions = new Map<string, { purse: Purse; account: Purse }>();
  readonly #accounts = new Map<number, Purse>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws 429 for a token whose budget is known to be spent, before the store is asked whose it is. */
  requireLeft(token: string | null): void {
    const known = token === null ? undefined : this.#sessions.get(token);
    if (!known) return;
    const now = this.#now();
    const seconds = Math.max(known.purse.wait(now), known.account.wait(now));
    if (seconds > 0) throw tooMany(seconds);
  }

  /** Lets a request of a session in, which costs as many as `cost` usual ones. Throws 429. */
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

function tooMany(seconds: number): ConsoleError {
  const when = seconds === 1 ? 'a second' : `${seconds} seconds`;
  return new ConsoleError('too_many_attempts', `Too many requests. Wait ${when}, then try again.`, {
    retryAfter: seconds,
  });
}
