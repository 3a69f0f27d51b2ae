import type pg from 'pg';
import { type IssuedKey, issueKey } from './issue-key.ts';
import { type KeyRow, readKey } from './key-row.ts';

const revoke = `
  update api_key
     set revoked_at = clock_timestamp()
   where account_id = $1 and api_key_id = $2`;

// Whoever holds a key with an end of its own keeps it no longer for having it regenerated.
const replace = `
  update api_key
     set revoked_at = least(clock_timestamp() + make_interval(secs => $3), expires_at),
         replaced_by = $4
   where account_id = $1 and api_key_id = $2`;

/** Revokes a key at once: no request that starts after the commit is accepted. Throws when it was revoked already. */
export async function revokeKey(client: pg.ClientBase, id: number): Promise<KeyRow> {
  const key = await readKey(client, id);
  if (key.state === 'revoked') throw new Error(`Key ${id} was revoked already: there is nothing to do.`);
  await client.query(revoke, [key.account_id, id]);
  return readKey(client, id);
}

/**
 * Issues a successor with the same name and the same span of life, and revokes the key in `overlap` seconds.
 * Throws when the key is no longer active or was regenerated before.
 */
export async function regenerateKey(
  client: pg.ClientBase,
  id: number,
  at: string,
  overlap: number,
): Promise<{ successor: IssuedKey; replaced: KeyRow }> {
  const key = await readKey(client, id);
  if (key.state !== 'active')
    throw new Error(`Key ${id} is ${key.state}: create a new one with "key create".`);
  if (key.replaced_by !== null) {
    throw new Error(`Key ${id} was regenerated as key ${key.replaced_by}: regenerate that one.`);
  }
  const successor = await issueKey(client, {
    accountId: key.account_id,
    name: key.name,
    at,
    lifetime: key.expires_at && (key.expires_at.getTime() - key.created_at.getTime()) / 1_000,
  });
  await client.query(replace, [key.account_id, id, overlap, successor.id]);
  return { successor, replaced: await readKey(client, id) };
}
