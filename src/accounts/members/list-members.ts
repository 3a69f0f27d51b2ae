import type pg from 'pg';
import { type MemberRow, memberColumns } from './member-row.ts';

const select = `select ${memberColumns} from member where account_id = $1 order by member_id`;

/** An account's members, ordered by id; empty for an account that does not exist yet (null). */
export async function listMembers(
  client: pg.ClientBase | pg.Pool,
  accountId: number | null,
): Promise<MemberRow[]> {
  return (await client.query<MemberRow>(select, [accountId])).rows;
}
