import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NewestVerified } from './verify-newest.ts';
import type { VerifiedAccount, VerifyingFrom } from './verify-worker.ts';

// A worker without work ends after this time: it holds some 20 MB and a connection to the store.
const IDLE_MS = 20_000;
const LONGEST_MS = 30_000;

interface Verification {
  told: Promise<NewestVerified>;
  settle: (answer: VerifiedAccount) => void;
}

/** Verifies the newest seals of accounts outside of this thread, which answers requests meanwhile. */
export interface Verifier {
  /** {@link verifyNewest}, one at a time of an account: who asks meanwhile is told the same. Throws when it fails or takes 30 s. */
  verify(accountId: number): Promise<NewestVerified>;
  close(): Promise<void>;
}

/** Starts its worker with the first account that it verifies. */
export function createVerifier(from: VerifyingFrom): Verifier {
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
    const told = new Promise<NewestVerified>((resolve, reject) => {
      const late = setTimeout(() => void end('it took too long'), LONGEST_MS);
      settle = (answer) => {
        clearTimeout(late);
        underWay.delete(accountId);
        if (underWay.size === 0) idle = setTimeout(() => void end('it was idle'), IDLE_MS).unref();
        if ('verified' in answer) resolve(answer.verified);
        else reject(new Error(`The log of account ${accountId} could not be verified: ${answer.failed}.`));
      };
    });
    const begun = { told, settle };
    underWay.set(accountId, begun);
    worker ??= start();
    worker.postMessage(accountId);
    return begun;
  }

  return {
    verify: (accountId) => (underWay.get(accountId) ?? begin(accountId)).told,
    async close() {
      await end('the service stops');
      clearTimeout(idle);
    },
  };
}
