import type pg from 'pg';
import { type Change, type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { hashToken, newToken } from '../../platform/token.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import type { ConsoleStore } from '../../store/directory/console-stores.ts';
import { type Read, readOwn, within } from '../../store/read.ts';
import { type Permission, permissionsOf } from '../../vocabulary/role-permissions.ts';
import type { Actor } from '../members/actor.ts';
import { listMemberships, type Membership } from './memberships.ts';
import { LIVING } from './session/living-session.sql.ts';
import { LONGEST_DAYS, setCookie } from './session/session-cookie.ts';
import { endOldestSessions } from './session/session-limit.ts';
import { lacking, signedOut } from './session-rejections.ts';
import type { Caller, SignInParts, SignInRequest } from './sign-in-request.ts';

const find = `
  select s.session_id as "sessionId", s.login_id as "loginId", l.email, s.account_id as "accountId",
         l.oidc_issuer is not null as "bySingleSignOn",
         s.proved_at > clock_timestamp() - interval '10 minutes' as "isRecent",
         s.last_seen_at < clock_timestamp() - interval '1 minute' as unseen
    from session s
    join login l on l.login_id = s.login_id
   where s.token_hash = $1
     and s.account_id is not null
     and ${LIVING}`;

const findMember = `
  select member_id as "memberId", name, roles
    from member
   where account_id = $1 and login_id = $2 and status = 'active'`;

const touchSession = 'update session set last_seen_at = clock_timestamp() where session_id = $1';
const touchMember = `
  update member set last_active_at = clock_timestamp() where account_id = $1 and member_id = $2`;

const livesNow = `
  select from session s
   where s.session_id = $1
     and s.account_id = $2
     and ${LIVING}`;
const rolesNow = `
  select roles
    from member
   where account_id = $1 and login_id = $2 and member_id = $3 and status = 'active'`;

const lastSeen = `
  select account_id, max(last_seen_at) as at
    from session
   where login_id = $1 and account_id is not null
   group by account_id`;

// The proof may have ended since it was given: by a new password, or because the passkey was removed.
const insert = `
  insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent, proved_email)
  select $1, l.login_id, $3, clock_timestamp() + make_interval(days => ${LONGEST_DAYS}), $4, $5, $6
    from login l
   where l.login_id = $2
     and ($7::text is null or l.password = $7)
     and ($8::bytea is null
          or exists (select from passkey p where p.credential_id = $8 and p.login_id = l.login_id))`;

const stillMember = `
  select from member where account_id = $1 and member_id = $2 and login_id = $3 and status = 'active'`;

/** The active member behind a session token, and the store of their account. Throws 401 when the session is invalid. */
export async function actorOf(
  { control, stores }: Pick<SignInParts, 'control' | 'stores'>,
  token: string | null,
): Promise<{ actor: Actor; store: ConsoleStore }> {
  if (token === null) throw signedOut;
  const { rows } = await control.query<
    Omit<Actor, 'permissions' | 'memberId' | 'name' | 'roles'> & { unseen: boolean }
  >(find, [hashToken(token)]);
  const [session] = rows;
  if (session === undefined) throw signedOut;
  const { unseen, ...known } = session;
  const store = await stores.of(known.accountId);
  const { rows: members } = await store.writer.query<Pick<Actor, 'memberId' | 'name' | 'roles'>>(findMember, [
    known.accountId,
    known.loginId,
  ]);
  const [member] = members;
  if (member === undefined) throw signedOut;
  if (unseen) {
    await control.query(touchSession, [known.sessionId]);
    await store.writer.query(touchMember, [known.accountId, member.memberId]);
  }
  return { actor: { ...known, ...member, permissions: permissionsOf(member.roles) }, store };
}

/** The actor's properties in a log entry: member, IP address and session (its id, never its token). */
export function actorProperties({ memberId, name, sessionId }: Actor, { address }: Pick<Caller, 'address'>) {
  return { actor_member_id: memberId, actor_name: name, source_ip: address, session_id: sessionId };
}

/** Throws 401 when the session or membership has ended, 403 when the member's roles no longer allow it. */
export async function requireStill(
  { control, cell }: { control: Read; cell: Read },
  { sessionId, loginId, accountId, memberId }: Actor,
  permission: Permission | 'member',
): Promise<void> {
  const [session] = await control(livesNow, [sessionId, accountId]);
  const [now] = await cell<{ roles: string[] }>(rolesNow, [accountId, loginId, memberId]);
  if (session === undefined || now === undefined) throw signedOut;
  if (permission !== 'member' && !permissionsOf(now.roles).has(permission)) throw lacking(permission);
}

/**
 * `changeAccount` on behalf of a member. The member may have been suspended or signed out since the request began, so
 * session and permission are checked again under the account's lock. Throws 401 or 403 then. Entries name the actor.
 */
export function changeAs(
  writer: pg.Pool,
  actor: Actor,
  caller: Caller,
  permission: Permission | 'member',
): ChangeAccount {
  return (work) =>
    changeAccount(writer, actor.accountId, async (change) => {
      const control = within(await controlOf(change.client));
      await requireStill({ control, cell: within(change.client) }, actor, permission);
      const record: Change['record'] = (actionType, pagePath, properties) =>
        change.record(actionType, pagePath, { ...properties, ...actorProperties(actor, caller) });
      return work({ ...change, author: actor.name, memberId: actor.memberId, record });
    });
}

/** How a person authenticated, and what must still hold when their session starts. */
export interface Proof {
  by: 'password' | 'passkey' | 'oidc' | 'link';
  /** The password's PHC string. */
  password?: string | undefined;
  /** The passkey's id. */
  passkey?: Buffer;
}

/**
 * Starts a session of a login, in `accountId` if it is an active member there, else in the account used last: sets the
 * cookie and logs `member_signed_in`. The browser's previous session ends, and the oldest ones of too many. `provedEmail` is
 * the address that an identity provider verified just now. Throws 403 when the login has no active membership, and 401 when
 * the membership or the proof ended in the meantime.
 */
export async function startSession(
  asked: SignInRequest,
  loginId: number,
  proof: Proof,
  { accountId = null, provedEmail = null }: { accountId?: number | null; provedEmail?: string | null } = {},
): Promise<void> {
  const { parts, caller } = asked;
  const member = await placeToAct(parts, loginId, accountId);
  if (member === undefined) {
    throw new Rejection(
      'forbidden',
      'You are not an active member of any account. Ask an owner to invite you.',
    );
  }
  const token = newToken();
  const { writer } = await parts.stores.of(member.account_id);
  await parts.inTurn(writer, member.account_id, () =>
    changeAccount(writer, member.account_id, async ({ client, record }) => {
      const control = await controlOf(client);
      const still = await client.query(stillMember, [member.account_id, member.member_id, loginId]);
      if (still.rowCount === 0) throw signedOut;
      if (caller.sessionToken !== null) {
        await control.query('delete from session where token_hash = $1', [hashToken(caller.sessionToken)]);
      }
      const { rowCount } = await control.query(insert, [
        hashToken(token),
        loginId,
        member.account_id,
        caller.address,
        caller.userAgent,
        provedEmail,
        proof.password ?? null,
        proof.passkey ?? null,
      ]);
      if (rowCount === 0) throw signedOut;
      record('member_signed_in', '/sign-in', {
        member_id: member.member_id,
        name: member.name,
        by: proof.by,
        source_ip: caller.address,
        user_agent: caller.userAgent,
      });
      const ended = await endOldestSessions(control, loginId);
      if (ended.length > 0) {
        record('session_ended', '/sign-in', {
          member_id: member.member_id,
          name: member.name,
          too_many: true,
          session_ids: ended,
          source_ip: caller.address,
        });
      }
    }),
  );
  setCookie(asked, token);
}

/** The member that a session begins as: in `accountId`, else in the account used last, else in the first; undefined = none. */
async function placeToAct(
  { controlReader, stores }: Pick<SignInParts, 'controlReader' | 'stores'>,
  loginId: number,
  accountId: number | null,
): Promise<Membership | undefined> {
  const members = await listMemberships(stores, loginId);
  const used = await readOwn(controlReader, loginId, (run) =>
    run<{ account_id: number; at: Date }>(lastSeen, [loginId]),
  );
  const lastUsed = new Map(used.map(({ account_id, at }) => [account_id, at.getTime()]));
  const rank = (id: number) => (id === accountId ? Number.POSITIVE_INFINITY : (lastUsed.get(id) ?? 0));
  const [first] = members.toSorted(
    (one, other) => rank(other.account_id) - rank(one.account_id) || one.account_id - other.account_id,
  );
  return first;
}

/** Starts a session of a person without an account, who can only answer their invitations. */
export async function startUnjoinedSession(
  { parts, caller, reply }: SignInRequest,
  loginId: number,
  provedEmail: string | null,
): Promise<void> {
  const token = newToken();
  if (caller.sessionToken !== null) {
    await parts.control.query('delete from session where token_hash = $1', [hashToken(caller.sessionToken)]);
  }
  await parts.control.query(insert, [
    hashToken(token),
    loginId,
    null,
    caller.address,
    caller.userAgent,
    provedEmail,
    null,
    null,
  ]);
  await endOldestSessions(parts.control, loginId);
  setCookie({ parts, caller, reply }, token);
}

const renew = `
  update session s
     set token_hash = $2, proved_at = clock_timestamp()
   where s.token_hash = $1
     and ${LIVING}`;

/**
 * Records that the person confirmed their identity. The session gets a new token, so that a stolen copy of the old one
 * becomes useless. Throws 401 when the session has ended.
 */
export async function renewSession(asked: SignInRequest): Promise<void> {
  const { parts, caller } = asked;
  const token = newToken();
  const { rowCount } = await parts.control.query(renew, [
    hashToken(caller.sessionToken ?? ''),
    hashToken(token),
  ]);
  if (rowCount === 0) throw signedOut;
  setCookie(asked, token);
}

const findPerson = `
  select s.login_id as "loginId", s.account_id as "accountId", s.proved_email as "provedEmail",
         coalesce(s.proved_email, l.email) as email,
         s.proved_at > clock_timestamp() - interval '10 minutes' as "isRecent"
    from session s
    join login l on l.login_id = s.login_id
   where s.token_hash = $1
     and ${LIVING}`;

/** The person behind a session, with or without an account. */
export interface Person {
  loginId: number;
  accountId: number | null;
  /** The address that the identity provider verified at sign-in; null for other ways to sign in. */
  provedEmail: string | null;
  email: string;
  /** Whether they signed in or confirmed their identity within the last 10 minutes. */
  isRecent: boolean;
}

/** The person behind a session token; null when there is none. */
export async function personOf(writer: pg.Pool, token: string | null): Promise<Person | null> {
  if (token === null) return null;
  const { rows } = await writer.query<Person>(findPerson, [hashToken(token)]);
  return rows[0] ?? null;
}
