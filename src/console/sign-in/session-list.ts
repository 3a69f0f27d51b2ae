import { timestamp } from '../../http/fields.ts';
import { endEverySession, endSession } from '../../sign-in/end-session.ts';
import { LIVING, setCookie } from '../../sign-in/sessions.ts';
import { type Static, Type } from '../../vocabulary/schema.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import type { NamedAccount } from './sorted-accounts.ts';

/** The person's sessions, last used first. */
export const Sessions = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.Integer(),
      /** The session of this request. */
      current: Type.Boolean(),
      account_name: Type.String(),
      created_at: timestamp('when it began'),
      last_seen_at: timestamp('its last request, to the minute'),
      expires_at: timestamp('when it ends in any case'),
      /** The address at sign-in. */
      source_ip: Type.String(),
      user_agent: Type.String(),
    }),
  ),
});
export type Sessions = Static<typeof Sessions>;

const list = `
  select s.session_id as id, s.session_id = $2 as current, s.account_id, s.created_at, s.last_seen_at,
         s.expires_at, host(s.source_ip) as source_ip, s.user_agent
    from session s
   where s.login_id = $1
     and s.account_id is not null
     and ${LIVING}
   order by s.last_seen_at desc, s.session_id desc`;

const namesOf = 'select account_id, name from account where account_id = any($1)';

interface SessionRow
  extends Omit<Sessions['data'][number], 'account_name' | 'created_at' | 'last_seen_at' | 'expires_at'> {
  account_id: number;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
}

const listSessions = consoleRoute({
  method: 'GET',
  path: '/sessions',
  permission: 'member',
  response: Sessions,
  async handler({ actor, readOwn, readOwnAccounts }) {
    const rows = await readOwn((run) => run<SessionRow>(list, [actor.loginId, actor.sessionId]));
    const ids = [rows.map(({ account_id }) => account_id)];
    const named = await readOwnAccounts<NamedAccount>(namesOf, ids);
    const names = new Map(named.map(({ account_id, name }) => [account_id, name]));
    const data = rows.map(({ account_id, ...row }) => ({
      ...row,
      account_name: names.get(account_id) ?? '',
      created_at: row.created_at.toISOString(),
      last_seen_at: row.last_seen_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
    }));
    return { data };
  },
});

const end = consoleRoute({
  method: 'DELETE',
  path: '/sessions/:id',
  permission: 'member',
  response: null,
  async handler(asked) {
    const { actor, id, change } = asked;
    await change((made) => endSession(made, actor, id));
    if (id === actor.sessionId) setCookie(asked, null);
  },
});

/** Signs the person out everywhere, including this session. */
const endAll = consoleRoute({
  method: 'DELETE',
  path: '/sessions',
  permission: 'member',
  response: null,
  async handler(asked) {
    const { actor, change } = asked;
    await change((made) => endEverySession(made, actor));
    setCookie(asked, null);
  },
});

export const sessionRoutes: ConsoleRoute[] = [listSessions, end, endAll];
