import type { Read } from '../../database/read.ts';
import { notFound } from '../../vocabulary/rejection.ts';

const existing = `
  select from connection where account_id = $1 and connection_id = $2 and removed_at is null`;

/** Throws 404 if the account has no such connection, or if it was removed. */
export async function requireConnection(run: Read, accountId: number, connectionId: number): Promise<void> {
  if ((await run(existing, [accountId, connectionId])).length === 0) throw notFound;
}
