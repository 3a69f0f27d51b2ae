import type pg from 'pg';
import { LIVING } from './living-session.sql.ts';

/**
 * How many sessions a login may have, in all its accounts. GitLab allows as many, and ends the same ones. To refuse the new
 * session instead would let a thief, or sessions left on lost devices, keep the person out.
 */
export const MOST_SESSIONS = 100;

// Of sign-ins at the same time, each sees the sessions of those before it.
const lockLogin = 'select from login where login_id = $1 for no key update';

const endOldest = `
  delete from session
   where session_id in (select session_id
                          from session s
                         where s.login_id = $1
                           and ${LIVING}
                         order by s.last_seen_at desc, s.session_id desc
                        offset ${MOST_SESSIONS})
  returning session_id`;

/** Ends the sessions of a login beyond {@link MOST_SESSIONS}, those first that were not used for longest. Returns their ids. */
export async function endOldestSessions(
  control: Pick<pg.ClientBase, 'query'>,
  loginId: number,
): Promise<number[]> {
  await control.query(lockLogin, [loginId]);
  const { rows } = await control.query<{ session_id: number }>(endOldest, [loginId]);
  return rows.map(({ session_id }) => session_id);
}
