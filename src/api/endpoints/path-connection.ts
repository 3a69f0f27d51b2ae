import { isListed } from '../../connections/connection-row.ts';
import { resourceNotFound } from '../../http/errors.ts';
import type { Read } from '../../store/read.ts';

/** When an endpoint of a connection answers 404, for the reference. */
export const NO_CONNECTION =
  'The account has no such connection, or the identifier is not a positive integer.';

/** The connection that a path names. Throws a 404 if the account has none, or if it was removed. */
export async function requireConnection(read: Read, accountId: number, id: string): Promise<number> {
  const connectionId = parseConnectionId(id);
  if (!(await isListed(read, accountId, connectionId))) throw resourceNotFound;
  return connectionId;
}

/** The identifier of a path. Throws a 404 if it is none. */
export function parseConnectionId(id: string): number {
  if (!/^[1-9][0-9]*$/.test(id) || Number(id) > Number.MAX_SAFE_INTEGER) throw resourceNotFound;
  return Number(id);
}
