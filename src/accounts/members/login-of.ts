import type pg from 'pg';
import { controlOf } from '../../store/cells/control-store.ts';

const select = 'select account_id from login where login_id = $1';

/**
 * The login of a member, in the transaction of its cell. `account_id` null = a person of an identity provider, else the login
 * belongs to that account alone. Null = the member has none.
 */
export async function loginOf(
  client: pg.ClientBase,
  loginId: number | null,
): Promise<{ account_id: number | null } | null> {
  if (loginId === null) return null;
  const control = await controlOf(client);
  return (await control.query<{ account_id: number | null }>(select, [loginId])).rows[0] ?? null;
}
