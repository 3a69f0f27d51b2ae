import pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import type { RoleId } from '../../vocabulary/role-permissions.ts';

export const MEMBER_STATUSES = ['active', 'invited', 'suspended'] as const;

/** A member as endpoint 7 shows it. */
export interface MemberRow {
  id: number;
  name: string;
  email: string;
  roles: RoleId[];
  status: (typeof MEMBER_STATUSES)[number];
  joined_at: Date;
  last_active_at: Date | null;
}

/** The properties of a member that the caller sets. */
export type WantedMember = Pick<MemberRow, 'name' | 'email' | 'roles' | 'status'>;

export const memberColumns = 'member_id as id, name, email, roles, status, joined_at, last_active_at';

/** The error for a member that does not exist any more. */
export function memberGone(): Error {
  return new Error('The member was removed in the meantime.');
}

/** Writes a member and its log entry. Throws a {@link Rejection} if the e-mail address is taken, or an error when the member does not exist. */
export async function writeMember(
  { accountId, client, record }: Change,
  actionType: 'member_added' | 'member_changed' | 'member_removed',
  statement: string,
  values: unknown[],
  more: Record<string, unknown> = {},
): Promise<MemberRow> {
  const { rows } = await client.query<MemberRow>(statement, values).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || error.constraint !== 'member_email') throw error;
    throw new Rejection(
      'conflict',
      `Account ${accountId} has a member with this e-mail address already: give another.`,
      {
        parameter: 'email',
        publicMessage: 'The account already has a member with this e-mail address. Enter another one.',
      },
    );
  });
  const [member] = rows;
  if (member === undefined) throw memberGone();
  const { id, name, email, roles, status } = member;
  record(actionType, '/team', { member_id: id, name, email, roles, status, ...more });
  return member;
}

const ownerOf = 'select account_id from member where member_id = $1';

/** The member's account. Throws when the member does not exist. */
export async function accountOfMember(writer: pg.Pool, id: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [id]);
  const [row] = rows;
  if (row === undefined) throw new Error(`There is no member ${id}.`);
  return row.account_id;
}
