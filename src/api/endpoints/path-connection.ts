import { isListed } from '../../connections/connection-row.ts';
import { resourceNotFound } from '../../http/errors.ts';
import type { Read } from '../../store/read.ts';

/** When an endpoint of a connection answers 404, for the reference. */
export const NO_CONNECTION =
  'The account has no such connection, or the identifier is not a positive integer.';

/**
 * Reads of the connection that a path names. Throws a 404 if the account has none, or if it was removed: that is read together with
 * what `work` reads first, and comes before what `work` throws.
 */
export async function readOfConnection<T>(
  read: Read,
  accountId: number,
  id: string,
  work: (connectionId: number) => Promise<T>,
): Promise<T> {
  const connectionId = parseConnectionId(id);
  const [listed, result] = await Promise.allSettled([
    isListed(read, accountId, connectionId),
    work(connectionId),
  ]);
  if (listed.status === 'rejected') throw listed.reason;
  if (!listed.value) throw resourceNotFound;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

/** The identifier of a path. Throws a 404 if it is none. */
export function parseConnectionId(id: string): number {
  if (!/^[1-9][0-9]*$/.test(id) || Number(id) > Number.MAX_SAFE_INTEGER) throw resourceNotFound;
  return Number(id);
}
