import { openSealKeys } from '../activity/seals/seal-key.ts';
import { createVerifier } from '../activity/seals/verify-in-worker.ts';
import { openPool, type StoreAddress } from '../database/connect.ts';
import type { Handler } from '../server/console-handler.ts';
import { createConsole } from './console.ts';
import type { ConsoleParts } from './route.ts';

/** The statement timeout of console requests, in milliseconds. */
const STATEMENT_MS = 10_000;

/** The console's API. */
interface OpenConsole {
  handle: Handler;
  /** Ends all event streams. */
  hangUp(): void;
  close(): Promise<void>;
}

/**
 * Opens the console's API in this process. It uses up to 8 connections to the store, and holds the keys of
 * DBVITALS_SECRET_KEY.
 */
export async function openConsole(
  address: StoreAddress,
  given: Omit<ConsoleParts, 'writer' | 'reader' | 'verify' | 'closing'>,
): Promise<OpenConsole> {
  const statementTimeout = STATEMENT_MS;
  const writer = openPool(address, 'writer', { max: 3, statementTimeout });
  const reader = openPool(address, 'console', { max: 3, pipeline: true, statementTimeout });
  const closing = new AbortController();
  const owner = openPool(address, 'owner', { max: 1, statementTimeout });
  const verifier = createVerifier({ address, statementTimeout }, async (accountId) => [
    ...(await openSealKeys(owner, given.secret, accountId)).keys(),
  ]);
  const { verify } = verifier;
  const app = await createConsole({ ...given, writer, reader, verify, closing: closing.signal });
  const handle: Handler = (request, response) => app.routing(request, response);
  return {
    handle,
    hangUp: () => closing.abort(),
    async close() {
      closing.abort();
      await app.close();
      await Promise.all([writer.end(), reader.end(), verifier.close(), owner.end()]);
    },
  };
}
