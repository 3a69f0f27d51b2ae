import type pg from 'pg';
import { changeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import type { Caller } from './sign-in-request.ts';

const find = `
  select member_id, name from member where account_id = $1 and login_id = $2 and status = 'active'`;
const move = 'update session set account_id = $2 where session_id = $1';

/** Moves a session to another account where its login is an active member. Throws 404 when it is none. */
export async function moveSession(
  writer: pg.Pool,
  {
    sessionId,
    loginId,
    accountId,
    caller,
  }: { sessionId: number; loginId: number; accountId: number; caller: Caller },
): Promise<void> {
  await changeAccount(writer, accountId, async ({ client, record }) => {
    const { rows } = await client.query<{ member_id: number; name: string }>(find, [accountId, loginId]);
    const [member] = rows;
    if (member === undefined) throw notFound();
    const { rowCount } = await (await controlOf(client)).query(move, [sessionId, accountId]);
    if (rowCount === 0) throw notFound();
    record('member_signed_in', '/sign-in', {
      ...member,
      by: 'session',
      source_ip: caller.address,
      user_agent: caller.userAgent,
    });
  });
}
