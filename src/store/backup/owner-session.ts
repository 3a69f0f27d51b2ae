import type pg from 'pg';
import type { StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../connect.ts';

/**
 * Runs `work` on a session of the store's owner, which ends with it. When `signal` aborts, the session ends at once, also
 * while the store is silent, and the error is the signal's reason.
 */
export async function withOwnerSession<T>(
  address: StoreAddress,
  signal: AbortSignal | undefined,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const pool = openPool(address, 'owner', { max: 1 });
  const client = await pool.connect();
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) client.release(true);
    hasEnded = true;
  };
  signal?.addEventListener('abort', end);
  try {
    return await work(client);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
    end();
    await pool.end();
  }
}
