import { fieldChanges } from '../activity/field-changes.ts';
import type { Change } from '../activity/record-entry.ts';
import { EditConflict, Rejection } from '../vocabulary/rejection.ts';
import type { Actor } from './actor.ts';
import { endLinks } from './add-link.ts';
import { type MemberRow, memberColumns, type WantedMember, writeMember } from './member-row.ts';
import { requireMayChange, requireMayGive, requireOwner } from './member-rules.ts';

/** Changes to a member; absent fields keep their values. */
export type MemberChanges = { [Field in keyof WantedMember]?: WantedMember[Field] | undefined };

const update = `
  update member
     set name = coalesce($3, name), email = coalesce($4, email), roles = coalesce($5, roles), status = coalesce($6, status)
   where account_id = $1 and member_id = $2
  returning ${memberColumns}`;

const selectBefore = `
  select name, email, roles, status
    from member
   where account_id = $1 and member_id = $2
     for update`;

/** Changes a member. Throws `EmailTaken`, or when the member does not exist. */
export async function changeMember(change: Change, id: number, wanted: MemberChanges): Promise<MemberRow> {
  const { name, email, roles, status } = wanted;
  const { rows } = await change.client.query<WantedMember>(selectBefore, [change.accountId, id]);
  const [before] = rows;
  const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const values = [change.accountId, id, name, email, roles, status];
  const changes = before && fieldChanges(before, { ...before, ...given });
  return writeMember(change, 'member_changed', update, values, { ...changes });
}

/**
 * {@link changeMember} by another member, after the permission checks. A new e-mail address or a suspension invalidates
 * the member's links. Throws {@link EditConflict} when the member changed in the meantime.
 */
export async function changeMemberAs(
  change: Change,
  actor: Actor,
  id: number,
  { version, ...wanted }: MemberChanges & { version: string },
): Promise<void> {
  const before = await requireMayChange(change, actor, id);
  if (wanted.roles !== undefined) await requireMayGive(change, actor, wanted.roles);
  if (before.version !== version) throw new EditConflict();
  if (wanted.status !== undefined && before.status === 'invited') {
    throw new Rejection('conflict', 'This member has not joined yet. Remove them to revoke the invitation.');
  }
  if (wanted.email !== undefined && before.login_id !== null) {
    throw new Rejection(
      'conflict',
      'This member has joined and signs in with this address. It cannot be changed.',
    );
  }
  await changeMember(change, id, wanted);
  if (wanted.email !== undefined || wanted.status === 'suspended') await endLinks(change, id);
  await requireOwner(change, before);
}
