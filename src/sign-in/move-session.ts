import type pg from 'pg';
import { changeAccount } from '../activity/record-entry.ts';
import { notFound } from '../vocabulary/rejection.ts';
import type { Caller } from './sign-in-request.ts';

const move = `
  update session s
     set account_id = m.account_id
    from member m
   where s.session_id = $1
     and m.account_id = $2
     and m.login_id = s.login_id
     and m.status = 'active'
  returning m.member_id, m.name`;

/** Moves a session to another account where its login is an active member. Throws 404 when it is none. */
export async function moveSession(
  writer: pg.Pool,
  { sessionId, accountId, caller }: { sessionId: number; accountId: number; caller: Caller },
): Promise<void> {
  await changeAccount(writer, accountId, async ({ client, record }) => {
    const { rows } = await client.query<{ member_id: number; name: string }>(move, [sessionId, accountId]);
    const [member] = rows;
    if (member === undefined) throw notFound;
    record('member_signed_in', '/sign-in', {
      ...member,
      by: 'session',
      source_ip: caller.address,
      user_agent: caller.userAgent,
    });
  });
}
