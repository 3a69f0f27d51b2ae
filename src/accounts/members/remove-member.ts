import type { Change } from '../../activity/record-entry.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import { endTokensBy } from '../collectors/issue-token.ts';
import type { Actor } from './actor.ts';
import { endLinksBy } from './add-link.ts';
import { endSessionsHere } from './end-sessions.ts';
import { type MemberRow, memberColumns, memberGone, writeMember } from './member-row.ts';
import { requireMayChange, requireOwner, requireOwnerWhoSignsIn, type Subject } from './member-rules.ts';

// A login with a password belongs to one account, so it is deleted with its member.
const remove = `delete from member where account_id = $1 and member_id = $2 returning ${memberColumns}`;
const selectBefore = 'select login_id, roles, status from member where account_id = $1 and member_id = $2';
const removeLogin = 'delete from login where login_id = $1 and account_id = $2';

type Before = Pick<Subject, 'login_id' | 'roles' | 'status'>;

/**
 * Removes a member, the links and tokens by them, and their login if it belongs to this account only. Throws a `Rejection` for the last
 * owner, or when the member does not exist.
 */
export async function removeMember(
  change: Change,
  id: number,
  more: Record<string, unknown> = {},
): Promise<MemberRow> {
  const { client, accountId } = change;
  const [before] = (await client.query<Before>(selectBefore, [accountId, id])).rows;
  if (before === undefined) throw memberGone();
  const removed = await writeMember(change, 'member_removed', remove, [accountId, id], more);
  await endLinksBy(change, id);
  await endTokensBy(change, id);
  await endSessionsHere(change, before.login_id);
  await (await controlOf(client)).query(removeLogin, [before.login_id, accountId]);
  await requireOwner(change, before);
  return removed;
}

/** {@link removeMember} by another member, after the permission checks. */
export async function removeMemberAs(change: Change, actor: Actor, id: number): Promise<void> {
  const before = await requireMayChange(change, actor, id);
  await removeMember(change, id);
  await requireOwnerWhoSignsIn(change, before);
}
