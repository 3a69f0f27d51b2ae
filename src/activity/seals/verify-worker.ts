import { parentPort, workerData } from 'node:worker_threads';
import type { StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../../store/connect.ts';
import { readAs } from '../../store/read.ts';
import { type AccountVerified, verifyAccount } from './verify-account.ts';

/** The data that a worker is started with. */
export interface VerifyingFrom {
  address: StoreAddress;
  /** Statement timeout in milliseconds. */
  statementTimeout: number;
}

/** An account to verify, and the public keys that may have signed its log, hexadecimal. */
export interface AccountToVerify {
  accountId: number;
  publicKeys: readonly string[];
}

/** The answer to it. */
export type VerifiedAccount = { accountId: number } & ({ verified: AccountVerified } | { failed: string });

const { address, statementTimeout }: VerifyingFrom = workerData;
// One connection, so one verification at a time: more would not help on one core.
const reader = openPool(address, 'console', { max: 1, pipeline: true, statementTimeout });

parentPort?.on('message', async ({ accountId, publicKeys }: AccountToVerify) => {
  const keys = new Set(publicKeys);
  const answer = await readAs(reader, accountId, (run) => verifyAccount(run, accountId, keys)).then(
    ({ result }): VerifiedAccount => ({ accountId, verified: result }),
    (error: unknown): VerifiedAccount => ({
      accountId,
      failed: error instanceof Error ? error.message : 'it could not be read',
    }),
  );
  parentPort?.postMessage(answer);
});
