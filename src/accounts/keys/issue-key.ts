import type pg from 'pg';
import { generateKey, hashKey } from '../../platform/api-key.ts';
import { registerKey } from '../../store/directory/register.ts';
import { one } from '../../store/one.ts';
import { type KeyRow, readKey } from './key-row.ts';
import type { KeyRules } from './key-rules.ts';

const insert = `
  with issued as (
    insert into api_key (account_id, name, hash, last_four, created_at, expires_at, note, created_by, scopes,
                         allowed_addresses)
    values ($1, $2, $3, $4, $5::timestamptz, $5::timestamptz + make_interval(secs => $6), $7, $8, $9, $10)
    returning account_id, api_key_id
  )
  insert into key_window (account_id, api_key_id)
  select account_id, api_key_id from issued
  returning api_key_id as id`;

/** A new key's row and the key itself, which is shown only once. */
export type IssuedKey = KeyRow & { key: string };

/** The properties of a new key. */
export interface WantedKey extends Partial<KeyRules> {
  name: string;
  note?: string | null;
  /** The member who creates the key; absent = the operator. */
  createdBy?: number | undefined;
  /** The lifetime in seconds; null = until revoked. */
  lifetime: number | null;
}

/** Issues a key at `at`, a timestamp in PostgreSQL's format. */
export async function issueKey(
  client: pg.ClientBase,
  { accountId, at }: { accountId: number; at: string },
  { name, note, createdBy, lifetime, scopes = null, allowedAddresses = null }: WantedKey,
): Promise<IssuedKey> {
  const key = generateKey();
  const hash = hashKey(key);
  await registerKey(client, hash, accountId);
  const { rows } = await client.query<{ id: number }>(insert, [
    accountId,
    name,
    hash,
    key.slice(-4),
    at,
    lifetime,
    note || null,
    createdBy,
    scopes,
    allowedAddresses,
  ]);
  const { id, ...row } = await readKey(client, accountId, one(rows, 'store a key').id);
  return { id, key, ...row };
}
