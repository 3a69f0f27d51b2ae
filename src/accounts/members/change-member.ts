import { fieldChanges } from '../../activity/field-changes.ts';
import type { Change } from '../../activity/record-entry.ts';
import { EditConflict, Rejection } from '../../platform/rejection.ts';
import { type Permission, permissionsOf } from '../../vocabulary/role-permissions.ts';
import { MAY_ENROL } from '../collectors/enrol-collector.ts';
import { endTokensBy } from '../collectors/issue-token.ts';
import type { Actor } from './actor.ts';
import { endLinks, endLinksBy } from './add-link.ts';
import { endSessionsHere } from './end-sessions.ts';
import { type MemberRow, memberColumns, memberGone, type WantedMember, writeMember } from './member-row.ts';
import {
  covers,
  requireMayChange,
  requireMayGive,
  requireOwner,
  requireOwnerWhoSignsIn,
} from './member-rules.ts';

/** Changes to a member; absent fields keep their values. */
export type MemberChanges = { [Field in keyof WantedMember]?: WantedMember[Field] | undefined };

const update = `
  update member
     set name = coalesce($3, name), email = coalesce($4, email), roles = coalesce($5, roles), status = coalesce($6, status),
         invited_by = case when login_id is null and ($4 is not null or $5 is not null) then $7 else invited_by end
   where account_id = $1 and member_id = $2
  returning ${memberColumns}`;

const selectBefore = `
  select name, email, roles, status, login_id
    from member
   where account_id = $1 and member_id = $2
     for update`;

/**
 * Changes a member. What was made for or by the member and no longer holds
 * ends with it ({@link endOutdated}). Throws `EmailTaken`, a {@link Rejection} for the last owner, or when the member does
 * not exist.
 */
export async function changeMember(change: Change, id: number, changes: MemberChanges): Promise<MemberRow> {
  const { name, email, roles, status } = changes;
  const { rows } = await change.client.query<StoredMember>(selectBefore, [change.accountId, id]);
  const [stored] = rows;
  if (stored === undefined) throw memberGone();
  const { login_id, ...before } = stored;
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const values = [change.accountId, id, name, email, roles, status, change.memberId];
  const fields = fieldChanges(before, { ...before, ...given });
  const after = await writeMember(change, 'member_changed', update, values, { ...fields });
  await endOutdated(change, { ...before, login_id }, after);
  await requireOwner(change, { ...before, login_id });
  return after;
}

type StoredMember = WantedMember & { login_id: number | null };

const has = ({ status, roles }: Pick<WantedMember, 'status' | 'roles'>, permission: Permission) =>
  status === 'active' && permissionsOf(roles).has(permission);

/**
 * Ends the links for a member who gains a permission, gets another address or is suspended; the links and tokens by a member who
 * may make none any more; and the sessions of a member who is suspended.
 */
async function endOutdated(change: Change, before: StoredMember, after: MemberRow): Promise<void> {
  const gains = !covers(permissionsOf(before.roles), after.roles);
  const isSuspended = after.status === 'suspended' && before.status !== 'suspended';
  if (gains || isSuspended || after.email !== before.email) await endLinks(change, after.id);
  const loses = (permission: Permission) => has(before, permission) && !has(after, permission);
  if (loses('members:write')) await endLinksBy(change, after.id);
  if (loses(MAY_ENROL)) await endTokensBy(change, after.id);
  if (isSuspended) await endSessionsHere(change, before.login_id);
}

/**
 * {@link changeMember} by another member, after the permission checks. Throws {@link EditConflict} when the member changed
 * in the meantime.
 */
export async function changeMemberAs(
  change: Change,
  actor: Actor,
  id: number,
  { version, ...changes }: MemberChanges & { version: string },
): Promise<void> {
  const before = await requireMayChange(change, actor, id);
  if (changes.roles !== undefined) await requireMayGive(change, actor, changes.roles);
  if (before.version !== version) throw new EditConflict();
  if (changes.status !== undefined && before.status === 'invited') {
    throw new Rejection('conflict', 'This member has not joined yet. Remove them to revoke the invitation.');
  }
  if (changes.email !== undefined && before.login_id !== null) {
    throw new Rejection(
      'conflict',
      'This member has joined and signs in with this address. It cannot be changed.',
    );
  }
  await changeMember(change, id, changes);
  await requireOwnerWhoSignsIn(change, before);
}
