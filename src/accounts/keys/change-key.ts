import type { Change } from '../../activity/record-entry.ts';
import { EditConflict, Rejection } from '../../platform/rejection.ts';
import { type KeyRow, readKey } from './key-row.ts';
import type { KeyRules } from './key-rules.ts';

const update = `
  update api_key
     set scopes = $3, allowed_addresses = $4
   where account_id = $1 and api_key_id = $2`;

/** Changes to a key; absent fields keep their values. */
export interface KeyChanges extends Partial<KeyRules> {
  /** The version that the caller edited. If the key has another version now, {@link EditConflict} is thrown. */
  version?: number;
}

/**
 * Changes what a key may do. Requests that start after the commit are judged by it. Throws a {@link Rejection} when the key
 * does not exist or is not active, and an {@link EditConflict}.
 */
export async function changeKey(
  { accountId, client, record }: Change,
  id: number,
  { version, ...changes }: KeyChanges,
): Promise<KeyRow> {
  const before = await readKey(client, accountId, id);
  if (before.state !== 'active') {
    throw new Rejection('conflict', `This key is ${before.state} and can no longer be changed.`);
  }
  if (version !== undefined && version !== before.version) throw new EditConflict();
  const { scopes = before.scopes, allowedAddresses = before.allowed_addresses } = changes;
  const isSame =
    JSON.stringify([scopes, allowedAddresses]) === JSON.stringify([before.scopes, before.allowed_addresses]);
  if (isSame) return before;
  await client.query(update, [accountId, id, scopes, allowedAddresses]);
  record('api_key_changed', '/keys', {
    api_key_id: id,
    name: before.name,
    scopes,
    allowed_addresses: allowedAddresses,
    before: { scopes: before.scopes, allowed_addresses: before.allowed_addresses },
  });
  return readKey(client, accountId, id);
}
