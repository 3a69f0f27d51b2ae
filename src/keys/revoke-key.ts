import type pg from 'pg';
import { type IssuedKey, issueKey } from './issue-key.ts';
import { KeyRefusal } from './key-refusal.ts';
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

/** Which key, and when it is changed (as PostgreSQL writes an instant). */
interface KeyChange {
  accountId: number;
  id: number;
  at: string;
}

/**
 * Revokes a key at once: no request that starts after the commit is accepted. Throws NoKey, or a {@link KeyRefusal} when it
 * was revoked already.
 */
export async function revokeKey(
  client: pg.ClientBase,
  { accountId, id }: Omit<KeyChange, 'at'>,
): Promise<KeyRow> {
  const key = await readKey(client, accountId, id);
  if (key.state === 'revoked') {
    throw new KeyRefusal(`Key ${id} was revoked already: there is nothing to do.`);
  }
  await client.query(revoke, [accountId, id]);
  return readKey(client, accountId, id);
}

/**
 * Issues a successor with the same name, note and span of life, and revokes the key in `overlap` seconds. Throws
 * NoKey, or a {@link KeyRefusal} when the key is no longer active or was regenerated before.
 */
export async function regenerateKey(
  client: pg.ClientBase,
  { accountId, id, at }: KeyChange,
  { overlap, createdBy }: { overlap: number; createdBy?: number },
): Promise<{ successor: IssuedKey; replaced: KeyRow }> {
  const { name, note, state, replaced_by, created_at, expires_at } = await readKey(client, accountId, id);
  if (state !== 'active') throw new KeyRefusal(`Key ${id} is ${state}: create a new one.`);
  if (replaced_by !== null) {
    throw new KeyRefusal(`Key ${id} was regenerated as key ${replaced_by}: regenerate that one.`);
  }
  const lifetime = expires_at && (expires_at.getTime() - created_at.getTime()) / 1_000;
  const successor = await issueKey(client, { accountId, at }, { name, note, createdBy, lifetime });
  await client.query(replace, [accountId, id, overlap, successor.id]);
  return { successor, replaced: await readKey(client, accountId, id) };
}
