import type { Change } from '../../activity/record-entry.ts';
import { type IssuedKey, issueKey, type WantedKey } from './issue-key.ts';

/** Creates a key. */
export async function addKey(
  { accountId, client, at, record }: Change,
  wanted: WantedKey,
): Promise<IssuedKey> {
  const key = await issueKey(client, { accountId, at }, wanted);
  record('api_key_created', '/keys', {
    api_key_id: key.id,
    name: key.name,
    expires_at: key.expires_at,
    ...(key.scopes && { scopes: key.scopes }),
    ...(key.allowed_addresses && { allowed_addresses: key.allowed_addresses }),
  });
  return key;
}
