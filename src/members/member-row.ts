import pg from 'pg';
import type { ActionType, Change } from '../activity/record-entry.ts';
import { Rejection } from '../vocabulary/rejection.ts';
import type { RoleId } from '../vocabulary/role-permissions.ts';

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

/** Another member of the account has the e-mail address. */
export class EmailTaken extends Rejection {
  constructor(accountId: number) {
    super('conflict', `Account ${accountId} has a member with this e-mail address already: give another.`);
  }
}

export const memberColumns = 'member_id as id, name, email, roles, status, joined_at, last_active_at';

/** Writes a member and its log entry. Throws {@link EmailTaken}, or when the member does not exist. */
export async function writeMember(
  { accountId, client, record }: Change,
  actionType: ActionType,
  statement: string,
  values: unknown[],
  more: Record<string, unknown> = {},
): Promise<MemberRow> {
  const { rows } = await client.query<MemberRow>(statement, values).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || error.constraint !== 'member_email') throw error;
    throw new EmailTaken(accountId);
  });
  const [member] = rows;
  if (member === undefined) throw new Error('The member was removed in the meantime.');
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
