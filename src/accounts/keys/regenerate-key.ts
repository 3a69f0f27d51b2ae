import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';
import { type KeyRow, readKey } from './key-row.ts';

// Regenerating a key does not extend its expiry.
const replace = `
  update api_key
     set revoked_at = least(clock_timestamp() + make_interval(secs => $3), expires_at),
         replaced_by = $4
   where account_id = $1 and api_key_id = $2`;

/**
 * Issues a replacement with the same name, note, lifetime, scopes and allowed addresses, and revokes the key in `overlap` seconds. Throws a
 * {@link Rejection} when the key does not exist, is not active, or was already regenerated.
 */
export async function regenerateKey(
  { accountId, client, at, record }: Change,
  id: number,
  { overlap, createdBy }: { overlap: number; createdBy?: number },
): Promise<{ successor: IssuedKey; replaced: KeyRow }> {
  const old = await readKey(client, accountId, id);
  const { name, note, state, replaced_by, created_at, expires_at, scopes } = old;
  if (state !== 'active') throw new Rejection('conflict', `This key is ${state}. Create a new one.`);
  if (replaced_by !== null) {
    throw new Rejection('conflict', `This key was regenerated as key ${replaced_by}: regenerate that one.`);
  }
  const lifetime = expires_at && (expires_at.getTime() - created_at.getTime()) / 1_000;
  const rules = { scopes, allowedAddresses: old.allowed_addresses };
  const wanted = { name, note, createdBy, lifetime, ...rules };
  const successor = await issueKey(client, { accountId, at }, wanted);
  await client.query(replace, [accountId, id, overlap, successor.id]);
  const replaced = await readKey(client, accountId, id);
  record('api_key_regenerated', '/keys', {
    api_key_id: id,
    name: replaced.name,
    revoked_at: replaced.revoked_at,
    replaced_by: successor.id,
    expires_at: successor.expires_at,
  });
  return { successor, replaced };
}
