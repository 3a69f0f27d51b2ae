import type { Change } from '../activity/record-entry.ts';
import { type IssuedKey, issueKey, type WantedKey } from './issue-key.ts';
import type { KeyRow } from './key-row.ts';
import { regenerateKey, revokeKey } from './revoke-key.ts';

// What the commands and the console do with keys: each with the entry that tells of it.

const page = '/keys';

/** Creates a key. */
export async function addKey(
  { accountId, client, at, record }: Change,
  wanted: WantedKey,
): Promise<IssuedKey> {
  const key = await issueKey(client, { accountId, at }, wanted);
  record('api_key_created', page, { api_key_id: key.id, name: key.name, expires_at: key.expires_at });
  return key;
}

/** Revokes a key at once. Throws NoKey, or a KeyRefusal when it was revoked already. */
export async function endKey({ accountId, client, record }: Change, id: number): Promise<KeyRow> {
  const key = await revokeKey(client, { accountId, id });
  record('api_key_revoked', page, { api_key_id: id, name: key.name, revoked_at: key.revoked_at });
  return key;
}

/** Regenerates a key, which lives on for `overlap` seconds. Throws NoKey, or a KeyRefusal when it can't be. */
export async function replaceKey(
  { accountId, client, at, record }: Change,
  id: number,
  how: { overlap: number; createdBy?: number },
): Promise<{ successor: IssuedKey; replaced: KeyRow }> {
  const { successor, replaced } = await regenerateKey(client, { accountId, id, at }, how);
  record('api_key_regenerated', page, {
    api_key_id: id,
    name: replaced.name,
    revoked_at: replaced.revoked_at,
    replaced_by: successor.id,
    expires_at: successor.expires_at,
  });
  return { successor, replaced };
}
