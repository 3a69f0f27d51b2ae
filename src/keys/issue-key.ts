import type pg from 'pg';
import { generateKey, hashKey } from './key.ts';
import { type KeyRow, readKey } from './key-row.ts';

const insert = `
  with issued as (
    insert into api_key (account_id, name, hash, last_four, created_at, expires_at)
    values ($1, $2, $3, $4, $5::timestamptz, $5::timestamptz + make_interval(secs => $6))
    returning account_id, api_key_id
  )
  insert into key_window (account_id, api_key_id)
  select account_id, api_key_id from issued
  returning api_key_id as id`;

/** A key's row and, this once, the key itself. */
export type IssuedKey = KeyRow & { key: string };

/** Issues a key at `at` (as PostgreSQL writes an instant) that lives for so many seconds, null = until it is revoked. */
export async function issueKey(
  client: pg.ClientBase,
  wanted: { accountId: number; name: string; at: string; lifetime: number | null },
): Promise<IssuedKey> {
  const key = generateKey();
  const { rows } = await client.query<{ id: number }>(insert, [
    wanted.accountId,
    wanted.name,
    hashKey(key),
    key.slice(-4),
    wanted.at,
    wanted.lifetime,
  ]);
  const { id, ...row } = await readKey(client, rows[0]?.id ?? 0);
  return { id, key, ...row };
}
