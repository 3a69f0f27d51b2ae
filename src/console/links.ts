import pg from 'pg';
import { type Static, Type } from 'typebox';
import { type Change, changeAccount } from '../activity/record-entry.ts';
import { nullable } from '../http/endpoint.ts';
import { hashToken, type LinkPurpose } from '../team/record-link.ts';
import { fieldFlaw } from './body-flaw.ts';
import { ConsoleError } from './errors.ts';
import { line } from './line.ts';
import { hashNewPassword, NewPassword } from './password.ts';
import { type Asked, type ConsoleRoute, openRoute } from './route.ts';
import { LIVING, startSession } from './sessions.ts';
import { Email, proveByPassword } from './sign-in.ts';

/** What a one-time link is for, before it is used. */
export const Link = Type.Object({
  purpose: Type.Unsafe<LinkPurpose>({ type: 'string', enum: ['owner', 'invitation', 'reset'] }),
  account_name: Type.String(),
  /** Null for the purpose owner: whoever opens it says. */
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  /** The address signs in already: its password is asked for, not a new one. Never for the purpose reset. */
  has_login: Type.Boolean(),
  /** This browser is signed in as that login: no password is asked for. */
  signed_in: Type.Boolean(),
});
export type Link = Static<typeof Link>;

// Where a link is used; what follows in the address is the secret.
const PAGE = '/link';

const name = line(200, 'Give your name, of 1 to 200 characters.');

/** `email` for the purpose owner; `name` there and where a login is made; `password` unless signed in as the login. */
const UseLink = Type.Object({
  name: Type.Optional(name),
  email: Type.Optional(Email),
  password: Type.Optional(NewPassword),
});

const find = `
  select k.account_id, k.purpose, k.member_id, k.created_by, a.name as account_name, m.email, m.name, m.login_id
    from link k
    join account a on a.account_id = k.account_id
    left join member m on m.account_id = k.account_id and m.member_id = k.member_id
   where k.token_hash = $1
     and k.used_at is null
     and k.expires_at > clock_timestamp()
     and m.status is distinct from 'suspended'`;

const use = `
  update link set used_at = clock_timestamp()
   where account_id = $1 and token_hash = $2 and used_at is null and expires_at > clock_timestamp()`;

const loginOfEmail = 'select login_id from login where lower(email) = lower($1)';

const loginOfSession = `select s.login_id from session s where s.token_hash = $1 and ${LIVING}`;

const insertLogin = 'insert into login (email, name, password) values ($1, $2, $3) returning login_id';

const insertOwner = `
  insert into member (account_id, name, email, roles, status, joined_at, login_id)
  values ($1, $2, $3, array['owner'], 'active', $4, $5)
  returning member_id`;

const join = `
  update member
     set login_id = $3, joined_at = case status when 'invited' then $4 else joined_at end, status = 'active'
   where account_id = $1 and member_id = $2 and status <> 'suspended'
  returning name, email, roles, status`;

const elsewhere = 'select from member where login_id = $1 and account_id <> $2 limit 1';
const setPassword = 'update login set password = $2 where login_id = $1';
const endSessions = 'delete from session where login_id = $1';

const gone = new ConsoleError(
  'not_found',
  'This link was used already, is too old, or a newer one took its place: ask for another.',
);
const wrong = new ConsoleError(
  'unauthorized',
  'This address signs in to dbvitals already, and the password is not its own: give that one, or sign in first and open the link again.',
);
const taken = new ConsoleError(
  'conflict',
  'The account has a member with this e-mail address already: ask for a link for that member.',
);

interface LinkRow {
  account_id: number;
  purpose: LinkPurpose;
  member_id: number | null;
  created_by: number | null;
  account_name: string;
  email: string | null;
  name: string | null;
  login_id: number | null;
}

/** A link that can still be used; throws 404 for any other. */
async function findLink(writer: pg.Pool, token: string): Promise<LinkRow> {
  const { rows } = await writer.query<LinkRow>(find, [hashToken(token)]);
  const [link] = rows;
  if (link === undefined) throw gone;
  return link;
}

async function sessionLogin({ parts, caller }: Asked): Promise<number | null> {
  if (caller.sessionToken === null) return null;
  const { rows } = await parts.writer.query<{ login_id: number }>(loginOfSession, [
    hashToken(caller.sessionToken),
  ]);
  return rows[0]?.login_id ?? null;
}

async function loginOf(writer: pg.Pool, email: string): Promise<number | null> {
  return (await writer.query<{ login_id: number }>(loginOfEmail, [email])).rows[0]?.login_id ?? null;
}

const showLink = openRoute({
  method: 'GET',
  path: '/link/:token',
  permission: 'anyone',
  response: Link,
  async handler(asked) {
    const { purpose, account_name, email, name } = await findLink(
      asked.parts.writer,
      asked.params['token'] ?? '',
    );
    const login = email === null || purpose === 'reset' ? null : await loginOf(asked.parts.writer, email);
    const signed_in = login !== null && login === (await sessionLogin(asked));
    return { purpose, account_name, email, name, has_login: login !== null, signed_in };
  },
});

function required<T>(value: T | undefined, parameter: 'name' | 'email' | 'password'): T {
  if (value !== undefined) return value;
  throw fieldFlaw(UseLink, parameter);
}

/**
 * What makes the login that the link is for: one that is there already is proved to be theirs, never given another password,
 * for whoever made the link may be of another company; else one is made, inside the change.
 */
async function loginMaker(
  asked: Asked,
  email: string,
  name: string,
  account: string,
): Promise<(change: Change) => Promise<number>> {
  const { parts, caller, body } = asked;
  const { password } = body as Static<typeof UseLink>;
  const known = await loginOf(parts.writer, email);
  if (known !== null) {
    if (known !== (await sessionLogin(asked))) {
      const proved = await proveByPassword(parts, caller, {
        email,
        password: required(password, 'password'),
      });
      if (proved !== known) throw wrong;
    }
    return async () => known;
  }
  const phc = await hashNewPassword(required(password, 'password'), [email, name, account], 'password');
  return async ({ client }) => {
    const { rows } = await client.query<{ login_id: number }>(insertLogin, [email, name, phc]);
    return rows[0]?.login_id ?? 0;
  };
}

const useLink = openRoute({
  method: 'POST',
  path: '/link/:token',
  permission: 'anyone',
  body: UseLink,
  response: null,
  async handler(asked) {
    const { parts, params, body } = asked;
    const token = params['token'] ?? '';
    const link = await findLink(parts.writer, token);
    const login =
      link.purpose === 'reset' ? await reset(asked, link, token) : await enter(asked, link, token, body);
    await startSession(asked, login, 'link', link.account_id);
  },
});

/** Sets a new password; who was signed in with the old one is signed out. */
async function reset(asked: Asked, link: LinkRow, token: string): Promise<number> {
  const { login_id: login, account_id, member_id, created_by } = link;
  if (login === null) throw gone;
  const password = required((asked.body as Static<typeof UseLink>).password, 'password');
  const phc = await hashNewPassword(password, [link.email, link.name, link.account_name], 'password');
  await changeAccount(asked.parts.writer, account_id, async (change) => {
    await spend(change, token);
    // Of a company's own people alone: it may have joined another one since the link was made.
    if (created_by !== null && (await change.client.query(elsewhere, [login, account_id])).rowCount !== 0)
      throw gone;
    await change.client.query(setPassword, [login, phc]);
    await change.client.query(endSessions, [login]);
    change.record('link_used', PAGE, {
      ...{ member_id, purpose: link.purpose },
      ...openedBy(asked, member_id, link.name),
    });
  });
  return login;
}

/** Makes the person who opened the link a member who can act: a new owner, or the invited one. */
async function enter(
  asked: Asked,
  { purpose, account_id, account_name, member_id, ...member }: LinkRow,
  token: string,
  body: Static<typeof UseLink>,
): Promise<number> {
  const email = member.email ?? required(body.email, 'email');
  const { name: own } = member;
  const name = (body.name === undefined && own !== null ? own : required(body.name, 'name')).trim();
  const login = await loginMaker(asked, email, name, account_name);
  try {
    return await changeAccount(asked.parts.writer, account_id, async (change) => {
      const { client, record, at } = change;
      await spend(change, token);
      const login_id = await login(change);
      if (member_id !== null) {
        const { rows } = await client.query(join, [account_id, member_id, login_id, at]);
        if (rows.length === 0) throw gone;
        const who = openedBy(asked, member_id, own);
        record('member_changed', PAGE, { member_id, ...rows[0], changed: ['login'], ...who });
        record('link_used', PAGE, { member_id, purpose, ...who });
        return login_id;
      }
      const { rows } = await client.query<{ member_id: number }>(insertOwner, [
        account_id,
        name,
        email,
        at,
        login_id,
      ]);
      const made = { member_id: rows[0]?.member_id ?? 0, name, email, roles: ['owner'], status: 'active' };
      const who = openedBy(asked, made.member_id, name);
      record('member_added', PAGE, { ...made, ...who });
      record('link_used', PAGE, { member_id: made.member_id, purpose, ...who });
      return login_id;
    });
  } catch (error) {
    // Of two who open links for one address at once, the other was quicker: the same link tells more now.
    if (error instanceof pg.DatabaseError && error.code === '23505') throw taken;
    throw error;
  }
}

/** What an entry says of the person who opened a link: they act as the member that it is for. */
function openedBy({ caller }: Asked, memberId: number | null, name: string | null) {
  return { actor_member_id: memberId, actor_name: name, source_ip: caller.address };
}

async function spend({ client, accountId }: Change, token: string): Promise<void> {
  const { rowCount } = await client.query(use, [accountId, hashToken(token)]);
  if (rowCount === 0) throw gone;
}

export const linkRoutes: ConsoleRoute[] = [showLink, useLink];
