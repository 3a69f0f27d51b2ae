import pg from 'pg';
import { type Static, Type } from 'typebox';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { one } from '../../database/one.ts';
import { nullable } from '../../http/endpoint.ts';
import type { LinkPurpose } from '../../members/add-link.ts';
import { foldEmail } from '../../members/email.ts';
import { joinAs } from '../../members/join-as.ts';
import { hashToken } from '../../members/token.ts';
import { keepDevice, type PasswordLogin } from '../../sign-in/known-device.ts';
import { NewPassword } from '../../sign-in/password.ts';
import { type Person, personOf, startSession } from '../../sign-in/sessions.ts';
import { Rejection } from '../../vocabulary/rejection.ts';
import { type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';
import { fieldValidationError } from '../validation-error.ts';
import { Email, newPassword } from './sign-in-routes.ts';

/** What a one-time link is for, before it is used. It reveals nothing about other accounts with the address. */
export const Link = Type.Object({
  purpose: Type.Unsafe<LinkPurpose>({ type: 'string', enum: ['owner', 'invitation', 'reset'] }),
  account_name: Type.String(),
  /** Null for the purpose owner: the person who opens it enters it. */
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  /** Whether this browser is signed in with single sign-on and this address: then no password is needed. */
  signed_in: Type.Boolean(),
});
export type Link = Static<typeof Link>;

// The page of a link, for log entries; the rest of its path is the secret.
const PAGE = '/link';

const name = singleLine(200, 'Enter your name, 1 to 200 characters.');

/** `email` for the purpose owner; `name` for an owner and a new login; `password` unless signed in as the login. */
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

const insertLogin = `
  insert into login (account_id, email, name, password) values ($1, $2, $3, $4)
  returning login_id`;

const insertOwner = `
  insert into member (account_id, name, email, roles, status, joined_at, login_id)
  values ($1, $2, $3, array['owner'], 'active', $4, $5)
  returning member_id`;

const loginNow = 'select login_id from member where account_id = $1 and member_id = $2';
const setPassword = 'update login set password = $3 where account_id = $1 and login_id = $2';
const endSessions = 'delete from session where login_id = $1';

const gone = new Rejection(
  'not_found',
  'This link was already used, has expired or was replaced by a newer one. Ask for a new link.',
);
const taken = new Rejection(
  'conflict',
  'The account already has a member with this e-mail address. Ask for a link for that member.',
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

/** Finds a valid link; throws 404 for any other. */
async function findLink(writer: pg.Pool, token: string): Promise<LinkRow> {
  const { rows } = await writer.query<LinkRow>(find, [hashToken(token)]);
  const [link] = rows;
  if (link === undefined) throw gone;
  return link;
}

/** The person who signed in recently with single sign-on and the link's address; else null. */
async function invitedPerson(
  { parts, caller }: ConsoleRequest,
  { purpose, email }: LinkRow,
): Promise<Person | null> {
  const person = await personOf(parts.writer, caller.sessionToken);
  if (purpose !== 'invitation' || email === null || !person?.isRecent || person.provedEmail === null)
    return null;
  return foldEmail(person.provedEmail) === foldEmail(email) ? person : null;
}

const showLink = openRoute({
  method: 'GET',
  path: '/link/:token',
  permission: 'anyone',
  response: Link,
  async handler(asked) {
    const link = await findLink(asked.parts.writer, asked.params['token'] ?? '');
    const { purpose, account_name, email, name } = link;
    return { purpose, account_name, email, name, signed_in: (await invitedPerson(asked, link)) !== null };
  },
});

function required<T>(value: T | undefined, parameter: 'name' | 'email' | 'password'): T {
  if (value !== undefined) return value;
  throw fieldValidationError(UseLink, parameter);
}

const useLink = openRoute({
  method: 'POST',
  path: '/link/:token',
  permission: 'anyone',
  body: UseLink,
  response: null,
  async handler(asked) {
    const { parts, params } = asked;
    const token = params['token'] ?? '';
    const link = await findLink(parts.writer, token);
    const { loginId, password, person } =
      link.purpose === 'reset' ? await reset(asked, link, token) : await enter(asked, link, token);
    const provedEmail = person?.provedEmail ?? null;
    await startSession(asked, loginId, 'link', {
      ...{ accountId: link.account_id, provedEmail },
    });
    if (password) keepDevice(asked, [password]);
  },
});

/** The person who opened a link: with a new password, or with single sign-on. */
interface Opened {
  loginId: number;
  password: PasswordLogin | null;
  person: Person | null;
}

/** Sets a new password and ends all sessions with the old one. */
async function reset(asked: ConsoleRequest, link: LinkRow, token: string): Promise<Opened> {
  const { login_id, account_id, account_name, member_id, email } = link;
  if (login_id === null || email === null) throw gone;
  const { password: given } = asked.body as Static<typeof UseLink>;
  const about = { about: [link.name, account_name], parameter: 'password' };
  const password = await newPassword(asked.parts, email, required(given, 'password'), about);
  await changeAccount(asked.parts.writer, account_id, async (change) => {
    await spend(change, token);
    const { rowCount } = await change.client.query(setPassword, [account_id, login_id, password]);
    if (rowCount === 0) throw gone; // they have switched to single sign-on
    await change.client.query(endSessions, [login_id]);
    change.record('link_used', PAGE, {
      ...{ member_id, purpose: link.purpose },
      ...openedBy(asked, member_id, link.name),
    });
  });
  return { loginId: login_id, password: { login_id, password }, person: null };
}

/**
 * Activates the person who opened the link: a new owner, or the invited member. Their password is for this account only,
 * because nobody verified the address.
 */
async function enter(asked: ConsoleRequest, link: LinkRow, token: string): Promise<Opened> {
  const { purpose, account_id, account_name, member_id } = link;
  const body = asked.body as Static<typeof UseLink>;
  const person = await invitedPerson(asked, link);
  const email = link.email ?? required(body.email, 'email');
  const name = (
    body.name === undefined && link.name !== null ? link.name : required(body.name, 'name')
  ).trim();
  const about = { about: [name, account_name], parameter: 'password' };
  const phc = person ? '' : await newPassword(asked.parts, email, required(body.password, 'password'), about);
  try {
    const loginId = await changeAccount(asked.parts.writer, account_id, async (change) => {
      const { client, record, at } = change;
      await spend(change, token);
      const login_id = person?.loginId ?? (await makeLogin(change, [email, name, phc]));
      if (member_id !== null) {
        const [now] = (await client.query<{ login_id: number | null }>(loginNow, [account_id, member_id]))
          .rows;
        const before = now?.login_id ?? null;
        const member = await joinAs(change, { memberId: member_id, loginId: login_id, before });
        if (member === null) throw gone;
        const who = openedBy(asked, member_id, link.name);
        record('member_changed', PAGE, { member_id, ...member, changed: ['login'], ...who });
        record('link_used', PAGE, { member_id, purpose, ...who });
        return login_id;
      }
      const { rows } = await client.query<{ member_id: number }>(insertOwner, [
        ...[account_id, name, email, at, login_id],
      ]);
      const { member_id: id } = one(rows, 'add an owner');
      const made = { member_id: id, name, email, roles: ['owner'], status: 'active' };
      const who = openedBy(asked, made.member_id, name);
      record('member_added', PAGE, { ...made, ...who });
      record('link_used', PAGE, { member_id: made.member_id, purpose, ...who });
      return login_id;
    });
    return { loginId, password: person ? null : { login_id: loginId, password: phc }, person };
  } catch (error) {
    if (
      error instanceof pg.DatabaseError &&
      ['member_email', 'member_login'].includes(error.constraint ?? '')
    )
      throw taken;
    throw error;
  }
}

async function makeLogin({ client, accountId }: Change, values: string[]): Promise<number> {
  const { rows } = await client.query<{ login_id: number }>(insertLogin, [accountId, ...values]);
  return one(rows, 'store a login').login_id;
}

/** The actor of a log entry for an opened link: the link's member. */
function openedBy({ caller }: ConsoleRequest, memberId: number | null, name: string | null) {
  return { actor_member_id: memberId, actor_name: name, source_ip: caller.address };
}

async function spend({ client, accountId }: Change, token: string): Promise<void> {
  const { rowCount } = await client.query(use, [accountId, hashToken(token)]);
  if (rowCount === 0) throw gone;
}

export const linkRoutes: ConsoleRoute[] = [showLink, useLink];
