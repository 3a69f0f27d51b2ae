import type pg from 'pg';
import { type Static, Type } from 'typebox';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { identifier } from '../../http/fields.ts';
import { foldedEmail } from '../../members/email.ts';
import { removeMember } from '../../members/remove-member.ts';
import { hashToken } from '../../members/token.ts';
import { proofNeeded, signedOut } from '../../sign-in/session-rejections.ts';
import { type Person, personOf } from '../../sign-in/sessions.ts';
import { notFound } from '../../vocabulary/rejection.ts';
import { type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';

/** The accounts that invited an address verified by an identity provider. The person accepts or declines each. */
export const Invitations = Type.Object({
  data: Type.Array(
    Type.Object({
      account_id: identifier('account'),
      account_name: Type.String(),
      roles: Type.Array(Type.String()),
      /** The member already signs in with a password, which accepting ends. It can't be declined here. */
      joined: Type.Boolean(),
    }),
  ),
  /** Whether the session belongs to an account. */
  acts: Type.Boolean(),
});
export type Invitations = Static<typeof Invitations>;

// A member without a login, or whose login did not verify the address with this provider.
const find = `
  select m.account_id, a.name as account_name, m.member_id, m.name, m.roles, l.account_id is not null as joined, m.login_id
    from member m
    join account a on a.account_id = m.account_id
    left join login l on l.login_id = m.login_id
   where ${foldedEmail('m.email')} = ${foldedEmail('$1::text')}
     and m.status <> 'suspended'
     and (m.login_id is null or l.account_id is not null or l.oidc_issuer <> $2)
     and ($4::bigint is null or m.account_id = $4)
     and not exists (select from member o where o.account_id = m.account_id and o.login_id = $3)
   order by m.account_id`;

/** A membership offered to a person. */
interface Offer {
  account_id: number;
  account_name: string;
  member_id: number;
  name: string;
  roles: string[];
  joined: boolean;
  login_id: number | null;
}

/** The memberships that accounts offer to a verified address; `accountId` names one account. */
export async function findOffers(
  client: pg.ClientBase | pg.Pool,
  of: { email: string; issuer: string; loginId: number | null },
  accountId: number | null = null,
): Promise<Offer[]> {
  return (await client.query<Offer>(find, [of.email, of.issuer, of.loginId, accountId])).rows;
}

const issuerOf = 'select oidc_issuer as issuer from login where login_id = $1 and oidc_issuer is not null';

async function offersTo(
  client: pg.ClientBase | pg.Pool,
  { loginId, provedEmail }: Person,
  accountId: number | null = null,
): Promise<Offer[]> {
  const [login] = (await client.query<{ issuer: string }>(issuerOf, [loginId])).rows;
  if (provedEmail === null || login === undefined) return [];
  return findOffers(client, { email: provedEmail, issuer: login.issuer, loginId }, accountId);
}

const join = `
  update member
     set login_id = $3, joined_at = case status when 'invited' then $4 else joined_at end, status = 'active'
   where account_id = $1 and member_id = $2 and status <> 'suspended'
  returning name, email, roles, status`;
const forget = 'delete from login where login_id = $1 and account_id = $2';
const endLinks = `
  update link set used_at = clock_timestamp()
   where account_id = $1 and member_id = $2 and used_at is null`;

/**
 * Makes the login act as the member. The member's previous password, passkeys, sessions and links end. Returns the member
 * for the log entry; null when there is no such active member.
 */
export async function joinAs(
  { client, accountId, at }: Change,
  { memberId, loginId, before }: { memberId: number; loginId: number; before: number | null },
): Promise<{ name: string; email: string; roles: string[]; status: string } | null> {
  const { rows } = await client.query(join, [accountId, memberId, loginId, at]);
  if (rows.length === 0) return null;
  if (before !== null) await client.query(forget, [before, accountId]);
  await client.query(endLinks, [accountId, memberId]);
  return rows[0];
}

async function requirePerson({ parts, caller }: ConsoleRequest): Promise<Person> {
  const person = await personOf(parts.writer, caller.sessionToken);
  if (person === null) throw signedOut;
  return person;
}

const list = openRoute({
  method: 'GET',
  path: '/invitations',
  permission: 'anyone',
  response: Invitations,
  async handler(asked) {
    const person = await requirePerson(asked);
    const offers = await offersTo(asked.parts.writer, person);
    const data = offers.map(({ account_id, account_name, roles, joined }) => ({
      ...{ account_id, account_name, roles, joined },
    }));
    return { data, acts: person.accountId !== null };
  },
});

/** Answers one invitation, after checking it again under the account's lock. */
async function answer(
  asked: ConsoleRequest,
  person: Person,
  work: (change: Change, offer: Offer) => Promise<void>,
): Promise<void> {
  const { writer } = asked.parts;
  if ((await offersTo(writer, person, asked.id)).length === 0) throw notFound;
  await changeAccount(writer, asked.id, async (change) => {
    const [offer] = await offersTo(change.client, person, asked.id);
    if (offer === undefined) throw notFound;
    const record: Change['record'] = (actionType, pagePath, properties) =>
      change.record(actionType, pagePath, {
        ...properties,
        ...{ actor_member_id: offer.member_id, actor_name: offer.name, source_ip: asked.caller.address },
      });
    await work({ ...change, record }, offer);
  });
}

const actThere = 'update session set account_id = $2 where token_hash = $1 and account_id is null';

const accept = openRoute({
  method: 'POST',
  path: '/invitations/:id/accept',
  permission: 'anyone',
  response: null,
  async handler(asked) {
    const person = await requirePerson(asked);
    if (!person.isRecent) throw proofNeeded;
    await answer(asked, person, async (change, { member_id, name, login_id }) => {
      const member = await joinAs(change, { memberId: member_id, loginId: person.loginId, before: login_id });
      if (member === null) throw notFound;
      change.record('member_changed', '/sign-in', { member_id, ...member, changed: ['login'], by: 'oidc' });
      const { rowCount } = await change.client.query(actThere, [
        hashToken(asked.caller.sessionToken ?? ''),
        change.accountId,
      ]);
      if (rowCount === 0) return;
      const { userAgent: user_agent } = asked.caller;
      change.record('member_signed_in', '/sign-in', { member_id, name, by: 'oidc', user_agent });
    });
  },
});

const decline = openRoute({
  method: 'POST',
  path: '/invitations/:id/decline',
  permission: 'anyone',
  response: null,
  async handler(asked) {
    await answer(asked, await requirePerson(asked), async (change, { member_id, joined }) => {
      if (joined) throw notFound;
      await removeMember(change, member_id, { declined: true });
    });
  },
});

/** The routes for invitations to a verified address. */
export const invitationRoutes: ConsoleRoute[] = [list, accept, decline];
