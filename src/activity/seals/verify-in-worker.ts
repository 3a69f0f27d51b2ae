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
  const latest = new LRUCache<number, { found: AccountVerified; goodUntil: number }>({ max: 10_000 });
  const running = new Map<number, Verification>();
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;

  function end(reason: string): Promise<unknown> {
    clearTimeout(idle);
    const ended = worker;
    worker = null;
    for (const [accountId, { settle }] of running) settle({ accountId, failed: reason });
    return ended?.terminate() ?? Promise.resolve();
  }

  function start(): Worker {
    const path = join(import.meta.dirname, `verify-worker${extname(import.meta.filename)}`);
    // Only the variables that say how to connect to PostgreSQL.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => /^(?:PG|USER$|HOME$)/.test(name)),
    );
    const started = new Worker(path, {
      workerData: from,
      env,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    started.on('message', (answer: VerifiedAccount) => running.get(answer.accountId)?.settle(answer));
    // Without a listener, an error would end the service.
    started.on('error', (error) => void (worker === started && end(error.message)));
    started.unref();
    return started;
  }

  function begin(accountId: number): Verification {
    clearTimeout(idle);
    let settle: Verification['settle'] = () => {};
    const began = performance.now();
    const result = new Promise<AccountVerified>((resolve, reject) => {
      const late = setTimeout(() => void end('it took too long'), LONGEST_MS);
      settle = (answer) => {
        clearTimeout(late);
        running.delete(accountId);
        if (running.size === 0) idle = setTimeout(() => void end('it was idle'), IDLE_MS).unref();
        if ('verified' in answer) {
          const now = performance.now();
          latest.set(accountId, { found: answer.verified, goodUntil: now + GOOD_FOR * (now - began) });
          resolve(answer.verified);
        } else reject(new Error(`The log of account ${accountId} could not be verified: ${answer.failed}.`));
      };
    });
    const verification = { result, settle };
    running.set(accountId, verification);
    result.catch(() => {}); // the page may no longer wait
    publicKeysOf(accountId).then(
      (publicKeys) => {
        if (running.get(accountId) !== verification) return;
        worker ??= start();
        worker.postMessage({ accountId, publicKeys } satisfies AccountToVerify);
      },
      (error: unknown) => settle({ accountId, failed: error instanceof Error ? error.message : 'no key' }),
    );
    return verification;
  }

  return {
    async verify(accountId) {
      const known = latest.get(accountId);
      if (known && performance.now() < known.goodUntil) return known.found;
      const { result } = running.get(accountId) ?? begin(accountId);
      const before = known?.found ?? NOT_VERIFIED_YET;
      return Promise.race([result, wait(PAGE_WAITS_MS, before, { ref: false })]);
    },
    async close() {
      await end('the service stops');
      clearTimeout(idle);
    },
  };
}
