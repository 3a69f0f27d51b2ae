import { extname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { type AccountVerified, NOT_VERIFIED_YET } from './verify-account.ts';
import type { AccountToVerify, VerifiedAccount, VerifyingFrom } from './verify-worker.ts';

// A worker without work ends after this time: it holds some 20 MB and a connection to the store.
const IDLE_MS = 20_000;
/** Of a log of ten million entries two minutes, and others may be before it. */
const LONGEST_MS = 900_000;

/** So long a page waits for a verification; then it gets the one before, or is told that there is none yet. */
const PAGE_WAITS_MS = 1_500;

/** A verification is good for ten times as long as it took: it takes a tenth of a core at most, and a small log's is always new. */
const GOOD_FOR = 10;

interface Verification {
  told: Promise<AccountVerified>;
  settle: (answer: VerifiedAccount) => void;
}

/** Verifies the logs of accounts outside of this thread, which answers requests meanwhile. */
export interface Verifier {
  /**
   * What the last whole verification of the account's log found, and when; it is made anew where that is long ago, one at a
   * time of an account. Throws when it fails.
   */
  verify(accountId: number): Promise<AccountVerified>;
  close(): Promise<void>;
}

/** Starts its worker with the first account that it verifies. `publicKeysOf` gives the keys of ours that may have signed, hexadecimal. */
export function createVerifier(
  from: VerifyingFrom,
  publicKeysOf: (accountId: number) => Promise<readonly string[]>,
): Verifier {
  const latest = new LRUCache<number, { found: AccountVerified; goodUntil: number }>({ max: 10_000 });
  const underWay = new Map<number, Verification>();
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;

  function end(reason: string): Promise<unknown> {
    clearTimeout(idle);
    const ended = worker;
    worker = null;
    for (const [accountId, { settle }] of underWay) settle({ accountId, failed: reason });
    return ended?.terminate() ?? Promise.resolve();
  }

  function start(): Worker {
    const path = join(import.meta.dirname, `verify-worker${extname(import.meta.filename)}`);
    // Of the environment only what says how to reach a PostgreSQL.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => /^(?:PG|USER$|HOME$)/.test(name)),
    );
    const started = new Worker(path, {
      workerData: from,
      env,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    started.on('message', (answer: VerifiedAccount) => underWay.get(answer.accountId)?.settle(answer));
    // An error without a listener would end the service.
    started.on('error', (error) => void (worker === started && end(error.message)));
    started.unref();
    return started;
  }

  function begin(accountId: number): Verification {
    clearTimeout(idle);
    let settle: Verification['settle'] = () => {};
    const began = performance.now();
    const told = new Promise<AccountVerified>((resolve, reject) => {
      const late = setTimeout(() => void end('it took too long'), LONGEST_MS);
      settle = (answer) => {
        clearTimeout(late);
        underWay.delete(accountId);
        if (underWay.size === 0) idle = setTimeout(() => void end('it was idle'), IDLE_MS).unref();
        if ('verified' in answer) {
          const now = performance.now();
          latest.set(accountId, { found: answer.verified, goodUntil: now + GOOD_FOR * (now - began) });
          resolve(answer.verified);
        } else reject(new Error(`The log of account ${accountId} could not be verified: ${answer.failed}.`));
      };
    });
    const begun = { told, settle };
    underWay.set(accountId, begun);
    told.catch(() => {}); // the page may have left
    publicKeysOf(accountId).then(
      (publicKeys) => {
        if (underWay.get(accountId) !== begun) return;
        worker ??= start();
        worker.postMessage({ accountId, publicKeys } satisfies AccountToVerify);
      },
      (error: unknown) => settle({ accountId, failed: error instanceof Error ? error.message : 'no key' }),
    );
    return begun;
  }

  return {
    async verify(accountId) {
      const known = latest.get(accountId);
      if (known && performance.now() < known.goodUntil) return known.found;
      const { told } = underWay.get(accountId) ?? begin(accountId);
      const before = known?.found ?? NOT_VERIFIED_YET;
      return Promise.race([told, wait(PAGE_WAITS_MS, before, { ref: false })]);
    },
    async close() {
      await end('the service stops');
      clearTimeout(idle);
    },
  };
}
