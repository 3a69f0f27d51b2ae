import type { Change } from '../../activity/record-entry.ts';
import { type MemberRow, memberColumns, type WantedMember, writeMember } from './member-row.ts';

const insert = `
  insert into member (account_id, name, email, roles, status, joined_at)
  values ($1, $2, $3, $4, $5, $6)
  returning ${memberColumns}`;

/** Adds a member. Throws `EmailTaken`. */
export function addMember(change: Change, { name, email, roles, status }: WantedMember): Promise<MemberRow> {
  const values = [change.accountId, name, email, roles, status, change.at];
  return writeMember(change, 'member_added', insert, values);
}
