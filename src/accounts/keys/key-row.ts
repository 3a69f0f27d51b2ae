import type pg from 'pg';
import { notFound } from '../../platform/rejection.ts';
import type { EndpointGroup } from '../../vocabulary/plans.ts';

/** An API key as the commands show it. The key itself is not stored. */
export interface KeyRow {
  id: number;
  account_id: number;
  name: string;
  note: string | null;
  last_four: string;
  created_at: Date;
  expires_at: Date | null;
  /** Can be in the future: a regenerated key stays valid for its overlap. */
  revoked_at: Date | null;
  /** The key that replaced it. */
  replaced_by: number | null;
  last_used_at: Date | null;
  /** The endpoint groups that it reaches; null = all. */
  scopes: EndpointGroup[] | null;
  /** The addresses and networks from which it may be used; null = any. */
  allowed_addresses: string[] | null;
  version: number;
  state: 'active' | 'revoked' | 'expired';
}

const select = `
  select k.api_key_id as id, k.account_id, k.name, k.note, k.last_four, k.created_at, k.expires_at,
         k.revoked_at, k.replaced_by, w.last_used_at, k.scopes, k.allowed_addresses, k.version,
         case when k.revoked_at <= clock_timestamp() then 'revoked'
              when k.expires_at <= clock_timestamp() then 'expired'
              else 'active' end as state
    from api_key k
    left join key_window w using (account_id, api_key_id)`;

/** The account's keys, oldest first. */
export async function listKeys(client: pg.ClientBase | pg.Pool, accountId: number): Promise<KeyRow[]> {
  const { rows } = await client.query<KeyRow>(`${select} where k.account_id = $1 order by k.api_key_id`, [
    accountId,
  ]);
  return rows;
}

/** A key of the account. Throws `notFound` when it does not exist. */
export async function readKey(client: pg.ClientBase, accountId: number, id: number): Promise<KeyRow> {
  const { rows } = await client.query<KeyRow>(`${select} where k.account_id = $1 and k.api_key_id = $2`, [
    accountId,
    id,
  ]);
  const [row] = rows;
  if (row === undefined) throw notFound('key', id);
  return row;
}

/** The key's account. Throws `notFound` when the key does not exist. */
export async function accountOfKey(pool: pg.Pool, id: number): Promise<number> {
  const { rows } = await pool.query<{ account_id: number }>(
    'select account_id from api_key where api_key_id = $1',
    [id],
  );
  const [row] = rows;
  if (row === undefined) throw notFound('key', id);
  return row.account_id;
}
