import type { Change } from '../../activity/record-entry.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import { endLinks } from './add-link.ts';

const join = `
  update member
     set login_id = $3, joined_at = case status when 'invited' then $4 else joined_at end, status = 'active'
   where account_id = $1 and member_id = $2 and status <> 'suspended'
  returning name, email, roles, status`;
const forget = 'delete from login where login_id = $1 and account_id = $2';

/**
 * Links the login to the member. The member's previous password, passkeys, sessions and links end. Returns the member
 * for the log entry, or null when there is no active member with this id.
 */
export async function joinAs(
  change: Change,
  { memberId, loginId, before }: { memberId: number; loginId: number; before: number | null },
): Promise<{ name: string; email: string; roles: string[]; status: string } | null> {
  const { client, accountId, at } = change;
  const { rows } = await client.query(join, [accountId, memberId, loginId, at]);
  if (rows.length === 0) return null;
  if (before !== null) await (await controlOf(client)).query(forget, [before, accountId]);
  await endLinks(change, memberId);
  return rows[0];
}
