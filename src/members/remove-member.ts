import type { Change } from '../activity/record-entry.ts';
import { controlOf } from '../database/cells/control-store.ts';
import type { Actor } from './actor.ts';
import { type MemberRow, memberColumns, writeMember } from './member-row.ts';
import { requireMayChange, requireOwner } from './member-rules.ts';

// A login with a password belongs to one account, so it is deleted with its member.
const remove = `delete from member where account_id = $1 and member_id = $2 returning ${memberColumns}`;
const loginOf =
  'select login_id from member where account_id = $1 and member_id = $2 and login_id is not null';
const removeLogin = 'delete from login where login_id = $1 and account_id = $2';

/** Removes a member and, if it belongs to this account only, their login. Throws when the member does not exist. */
export async function removeMember(
  change: Change,
  id: number,
  more: Record<string, unknown> = {},
): Promise<MemberRow> {
  const { client, accountId } = change;
  const [own] = (await client.query<{ login_id: number }>(loginOf, [accountId, id])).rows;
  const removed = await writeMember(change, 'member_removed', remove, [accountId, id], more);
  if (own) await (await controlOf(client)).query(removeLogin, [own.login_id, accountId]);
  return removed;
}

/** {@link removeMember} by another member, after the permission checks. */
export async function removeMemberAs(change: Change, actor: Actor, id: number): Promise<void> {
  const before = await requireMayChange(change, actor, id);
  await removeMember(change, id);
  await requireOwner(change, before);
}
