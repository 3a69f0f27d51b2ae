import { extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type AccountVerified, NOT_VERIFIED_YET } from './verify-account.ts';
import type { AccountToVerify, VerifiedAccount, VerifyingFrom } from './verify-worker.ts';

// An idle worker ends after this time. It uses about 20 MB and a connection to the store.
const IDLE_MS = 20_000;
/** A log of ten million entries takes two minutes, and others may be queued before it. */
const LONGEST_MS = 900_000;

/** How long a page waits for a verification. Then it gets the previous one, or {@link NOT_VERIFIED_YET}. */
const PAGE_WAITS_MS = 1_500;

/**
 * A verification is reused for ten times as long as it took. So verifying uses at most a tenth of a core, and the
 * result of a small log is always recent.
 */
const GOOD_FOR = 10;

interface Verification {
  result: Promise<AccountVerified>;
  settle: (answer: VerifiedAccount) => void;
}

/** Verifies the logs of accounts in another thread, so that this one can answer requests. */
export interface Verifier {
  /**
   * Returns the last complete verification of the account's log. Starts a new one if that is too old, one at a time
   * per account. Throws if it fails.
   */
  verify(accountId: number): Promise<AccountVerified>;
  close(): Promise<void>;
}

/**
 * Creates a verifier, which starts its worker with the first verification. `publicKeysOf` returns our keys that may
 * have signed, in hexadecimal.
 */
export function createVerifier(
  from: VerifyingFrom,
  publicKeysOf: (accountId: number) => Promise<readonly string[]>,
): Verifier {
  return new WorkerVerifier(from, publicKeysOf);
}

class WorkerVerifier implements Verifier {
  readonly #from: VerifyingFrom;
  readonly #publicKeysOf: (accountId: number) => Promise<readonly string[]>;
  readonly #latest = new LRUCache<number, { found: AccountVerified; goodUntil: number }>({ max: 10_000 });
  readonly #running = new Map<number, Verification>();
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(from: VerifyingFrom, publicKeysOf: (accountId: number) => Promise<readonly string[]>) {
    this.#from = from;
    this.#publicKeysOf = publicKeysOf;
  }

  async verify(accountId: number): Promise<AccountVerified> {
    const known = this.#latest.get(accountId);
    if (known && performance.now() < known.goodUntil) return known.found;
    const { result } = this.#running.get(accountId) ?? this.#begin(accountId);
    const before = known?.found ?? NOT_VERIFIED_YET;
    return Promise.race([result, wait(PAGE_WAITS_MS, before, { ref: false })]);
  }

  async close(): Promise<void> {
    await this.#end('the service stops');
    clearTimeout(this.#idle);
  }

  #begin(accountId: number): Verification {
    clearTimeout(this.#idle);
    const verification = this.#waitForAnswer(accountId);
    this.#running.set(accountId, verification);
    verification.result.catch(() => {}); // the page may no longer wait
    this.#publicKeysOf(accountId).then(
      (publicKeys) => {
        if (this.#running.get(accountId) !== verification) return;
        this.#worker ??= this.#start();
        this.#worker.postMessage({ accountId, publicKeys } satisfies AccountToVerify);
      },
      (error: unknown) =>
        verification.settle({ accountId, failed: error instanceof Error ? error.message : 'no key' }),
    );
    return verification;
  }

  /** A verification that waits for the worker's answer. */
  #waitForAnswer(accountId: number): Verification {
    const began = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<AccountVerified>();
    const late = setTimeout(() => void this.#end('it took too long'), LONGEST_MS);
    const settle = (answer: VerifiedAccount) => {
      clearTimeout(late);
      this.#running.delete(accountId);
      if (this.#running.size === 0)
        this.#idle = setTimeout(() => void this.#end('it was idle'), IDLE_MS).unref();
      if ('verified' in answer) {
        const now = performance.now();
        this.#latest.set(accountId, { found: answer.verified, goodUntil: now + GOOD_FOR * (now - began) });
        resolve(answer.verified);
      } else reject(new Error(`The log of account ${accountId} could not be verified: ${answer.failed}.`));
    };
    return { result: promise, settle };
  }

  #start(): Worker {
    const started = startWorker(this.#from);
    started.on('message', (answer: VerifiedAccount) => this.#running.get(answer.accountId)?.settle(answer));
    // Without a listener, an error would end the service.
    started.on('error', (error) => void (this.#worker === started && this.#end(error.message)));
    started.unref();
    return started;
  }

  #end(reason: string): Promise<unknown> {
    clearTimeout(this.#idle);
    const ended = this.#worker;
    this.#worker = null;
    for (const [accountId, { settle }] of this.#running) settle({ accountId, failed: reason });
    return ended?.terminate() ?? Promise.resolve();
  }
}

function startWorker(from: VerifyingFrom): Worker {
  const path = join(import.meta.dirname, `verify-worker${extname(import.meta.filename)}`);
  // Only the variables that say how to connect to PostgreSQL.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(?:PG|USER$|HOME$)/.test(name)),
  );
  return new Worker(path, { workerData: from, env, resourceLimits: { maxOldGenerationSizeMb: 256 } });
}
