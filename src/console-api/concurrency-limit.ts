import { Rejection } from '../platform/rejection.ts';

/** Limits how many expensive operations run at the same time, in this process and per account. */
export class ConcurrencyLimit {
  readonly #most: { ofAll: number; ofAccount: number };
  readonly #refusal: Rejection;
  readonly #open = new Map<number, number>();
  #all = 0;

  constructor(most: { ofAll: number; ofAccount: number }, what: string, retryAfter: number) {
    this.#most = most;
    this.#refusal = new Rejection(
      'too_many_attempts',
      `${what}. Wait ${retryAfter} seconds, then try again.`,
      { retryAfter },
    );
  }

  /** Takes a slot; the returned function frees it and is idempotent. Throws 429 when no slot is free. */
  enter(accountId: number): () => void {
    const own = this.#open.get(accountId) ?? 0;
    if (this.#all >= this.#most.ofAll || own >= this.#most.ofAccount) throw this.#refusal;
    this.#all += 1;
    this.#open.set(accountId, own + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#all -= 1;
      const rest = (this.#open.get(accountId) ?? 1) - 1;
      if (rest === 0) this.#open.delete(accountId);
      else this.#open.set(accountId, rest);
    };
  }
}
