import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { type KeyRow, readKey } from './key-row.ts';

const revoke = `
  update api_key
     set revoked_at = clock_timestamp()
   where account_id = $1 and api_key_id = $2`;

/**
 * Revokes a key immediately: requests that start after the commit are rejected. Throws a {@link Rejection} when the key
 * does not exist or was already revoked.
 */
export async function revokeKey({ accountId, client, record }: Change, id: number): Promise<KeyRow> {
  const { state } = await readKey(client, accountId, id);
  if (state === 'revoked') {
    throw new Rejection('conflict', 'This key is already revoked.');
  }
  await client.query(revoke, [accountId, id]);
  const key = await readKey(client, accountId, id);
  record('api_key_revoked', '/keys', { api_key_id: id, name: key.name, revoked_at: key.revoked_at });
  return key;
}
