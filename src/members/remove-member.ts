import type { Change } from '../activity/record-entry.ts';
import type { Actor } from './actor.ts';
import { type MemberRow, memberColumns, writeMember } from './member-row.ts';
import { requireMayChange, requireOwner } from './member-rules.ts';

// A login with a password belongs to one account, so it is deleted with its member.
const remove = `
  with removed as (
    delete from member
     where account_id = $1 and member_id = $2
    returning member_id, name, email, roles, status, joined_at, last_active_at, login_id
  ), own as (
    delete from login l using removed r where l.login_id = r.login_id and l.account_id = $1
  )
  select ${memberColumns} from removed`;

/** Removes a member and, if it belongs to this account only, their login. Throws when the member does not exist. */
export function removeMember(
  change: Change,
  id: number,
  more: Record<string, unknown> = {},
): Promise<MemberRow> {
  return writeMember(change, 'member_removed', remove, [change.accountId, id], more);
}

/** {@link removeMember} by another member, after the permission checks. */
export async function removeMemberAs(change: Change, actor: Actor, id: number): Promise<void> {
  const before = await requireMayChange(change, actor, id);
  await removeMember(change, id);
  await requireOwner(change, before);
}
