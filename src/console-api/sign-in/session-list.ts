import { endEverySession, endSession } from '../../accounts/sign-in/end-session.ts';
import { LIVING } from '../../accounts/sign-in/session/living-session.sql.ts';
import { setCookie } from '../../accounts/sign-in/session/session-cookie.ts';
import { timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { beforeParameter, readPlace } from '../list-place.ts';
import { limitParameter, readLimit } from '../page-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import type { NamedAccount } from './sorted-accounts.ts';

/** A page of the person's sessions, last used first. */
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
  next: nullable(Type.String({ description: '`before` of the next page; null on the last' })),
});
export type Sessions = Static<typeof Sessions>;

const list = `
  select s.session_id as id, s.session_id = $2 as current, s.account_id, s.created_at, s.last_seen_at,
         s.expires_at, host(s.source_ip) as source_ip, s.user_agent,
         to_char(s.last_seen_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '_' || s.session_id as place
    from session s
   where s.login_id = $1
     and s.account_id is not null
     and ${LIVING}
     and ($3::timestamptz is null or (s.last_seen_at, s.session_id) < ($3::timestamptz, $4::bigint))
   order by s.last_seen_at desc, s.session_id desc
   limit $5`;

const namesOf = 'select account_id, name from account where account_id = any($1)';

interface SessionRow
  extends Omit<Sessions['data'][number], 'account_name' | 'created_at' | 'last_seen_at' | 'expires_at'> {
  account_id: number;
  place: string;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
}

const listSessions = consoleRoute({
  method: 'GET',
  path: '/sessions',
  permission: 'member',
  query: Type.Object({ before: beforeParameter('sessions'), limit: limitParameter }),
  response: Sessions,
  async handler({ actor, query, readOwn, readOwnAccounts }) {
    const limit = readLimit(query.limit);
    const { at = null, id = null } = readPlace(query.before, 'sessions') ?? {};
    const values = [actor.loginId, actor.sessionId, at, id, limit + 1];
    const found = await readOwn((run) => run<SessionRow>(list, values));
    const rows = found.slice(0, limit);
    const ids = [rows.map(({ account_id }) => account_id)];
    const named = await readOwnAccounts<NamedAccount>(namesOf, ids);
    const names = new Map(named.map(({ account_id, name }) => [account_id, name]));
    const data = rows.map(({ account_id, place: _place, ...row }) => ({
      ...row,
      account_name: names.get(account_id) ?? '',
      created_at: row.created_at.toISOString(),
      last_seen_at: row.last_seen_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
    }));
    return { data, next: found.length > limit ? (rows.at(-1)?.place ?? null) : null };
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
