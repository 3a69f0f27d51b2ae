import pg from 'pg';
import type { ActionType, Change } from '../activity/record-entry.ts';
import type { RoleId } from '../vocabulary/roles.ts';

// What the commands and the console do with members: each with the entry that tells of it.

export const MEMBER_STATUSES = ['active', 'invited', 'suspended'] as const;

const page = '/team';

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

/** What a member is to be. */
export type WantedMember = Pick<MemberRow, 'name' | 'email' | 'roles' | 'status'>;

/** Another member of the account has the e-mail address. */
export class EmailTaken extends Error {}

export const memberColumns = 'member_id as id, name, email, roles, status, joined_at, last_active_at';
const insert = `
  insert into member (account_id, name, email, roles, status, joined_at)
  values ($1, $2, $3, $4, $5, $6)
  returning ${memberColumns}`;
const update = `
  update member
     set name = coalesce($3, name), email = coalesce($4, email), roles = coalesce($5, roles), status = coalesce($6, status)
   where account_id = $1 and member_id = $2
  returning ${memberColumns}`;
// A login with a password is its account's alone: it goes with its member.
const remove = `
  with removed as (
    delete from member
     where account_id = $1 and member_id = $2
    returning member_id, name, email, roles, status, joined_at, last_active_at, login_id
  ), own as (
    delete from login l using removed r where l.login_id = r.login_id and l.account_id = $1
  )
  select ${memberColumns} from removed`;

/** Adds a member. Throws {@link EmailTaken}. */
export function addMember(change: Change, { name, email, roles, status }: WantedMember): Promise<MemberRow> {
  return write(change, 'member_added', insert, [change.accountId, name, email, roles, status, change.at]);
}

/** Changes a member; what is absent stays. Throws {@link EmailTaken}, or when there is no such member. */
export function changeMember(
  change: Change,
  id: number,
  wanted: { [Field in keyof WantedMember]?: WantedMember[Field] | undefined },
): Promise<MemberRow> {
  const { name, email, roles, status } = wanted;
  const changed = Object.entries(wanted).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  const values = [change.accountId, id, name, email, roles, status];
  return write(change, 'member_changed', update, values, { changed });
}

/** Removes a member, and the login that was theirs in this account alone; throws when there is no such member. */
export function removeMember(
  change: Change,
  id: number,
  more: Record<string, unknown> = {},
): Promise<MemberRow> {
  return write(change, 'member_removed', remove, [change.accountId, id], more);
}

async function write(
  { accountId, client, record }: Change,
  actionType: ActionType,
  statement: string,
  values: unknown[],
  more: Record<string, unknown> = {},
): Promise<MemberRow> {
  const { rows } = await client.query<MemberRow>(statement, values).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || error.constraint !== 'member_email') throw error;
    throw new EmailTaken(`Account ${accountId} has a member with this e-mail address already: give another.`);
  });
  const [member] = rows;
  if (member === undefined) throw new Error('The member was removed in the meantime.');
  const { id, name, email, roles, status } = member;
  record(actionType, page, { member_id: id, name, email, roles, status, ...more });
  return member;
}
