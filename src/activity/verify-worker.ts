import { parentPort, workerData } from 'node:worker_threads';
import { openPool, type StoreAddress } from '../database/connect.ts';
import { readAs } from '../database/read.ts';
import { type NewestVerified, verifyNewest } from './verify-newest.ts';

/** What a worker is started with. */
export interface VerifyingFrom {
  address: StoreAddress;
  /** How long a statement may take, in milliseconds. */
  statementTimeout: number;
}

/** The answer to an account's number. */
export type VerifiedAccount = { accountId: number } & ({ verified: NewestVerified } | { failed: string });

const { address, statementTimeout }: VerifyingFrom = workerData;
// One connection, so one verification at a time: they take turns for one core.
const reader = openPool(address, 'console', { max: 1, pipeline: true, statementTimeout });

parentPort?.on('message', async (accountId: number) => {
  const answer = await readAs(reader, accountId, (run) => verifyNewest(run, accountId)).then(
    ({ result }): VerifiedAccount => ({ accountId, verified: result }),
    (error: unknown): VerifiedAccount => ({
      accountId,
      failed: error instanceof Error ? error.message : 'it could not be read',
    }),
  );
  parentPort?.postMessage(answer);
});
