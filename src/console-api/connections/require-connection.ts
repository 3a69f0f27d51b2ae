import { isListed } from '../../connections/connection-row.ts';
import { notFound } from '../../platform/rejection.ts';
import type { Read } from '../../store/read.ts';

/** Throws 404 if the account has no such connection, or if it was removed. */
export async function requireConnection(run: Read, accountId: number, connectionId: number): Promise<void> {
  if (!(await isListed(run, accountId, connectionId))) throw notFound();
}
