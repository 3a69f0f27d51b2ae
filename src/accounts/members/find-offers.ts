import type pg from 'pg';
import { isStoreFailure } from '../../store/store-failure.ts';
import { foldedEmail } from './email.ts';
import { makerStillMay } from './member-rules.ts';

const find = `
  select m.account_id, a.name as account_name, m.member_id, m.name, m.roles, m.login_id,
         m.invited_by, i.roles as inviter_roles
    from member m
    join account a on a.account_id = m.account_id
    left join member i on i.account_id = m.account_id and i.member_id = m.invited_by and i.status = 'active'
   where ${foldedEmail('m.email')} = ${foldedEmail('$1::text')}
     and m.status <> 'suspended'
     and ($3::bigint is null or m.account_id = $3)
     and not exists (select from member o where o.account_id = m.account_id and o.login_id = $2)
   order by m.account_id`;

const selectLogins = 'select login_id, account_id, oidc_issuer from login where login_id = any($1)';

/** A membership offered to a person. */
export interface Offer {
  account_id: number;
  account_name: string;
  member_id: number;
  name: string;
  roles: string[];
  joined: boolean;
  login_id: number | null;
}

/** A member to offer, and who invited them: null = the operator; without roles = no active member any more. */
interface InvitedMember extends Omit<Offer, 'joined'> {
  invited_by: number | null;
  inviter_roles: string[] | null;
}

type Client = pg.ClientBase | pg.Pool;

/** Where offers are read: the control store, which has the logins, and the stores of the accounts. */
export interface OfferSources {
  control: Client;
  inEach<Row extends { account_id: number }>(find: (cell: Client) => Promise<Row[]>): Promise<Row[]>;
}

/**
 * The memberships that accounts offer to a verified address: members without a login, or with a login whose address this
 * provider did not verify. An invitation by a member who could not make it today is none. `accountId` limits the search to
 * one account.
 */
export async function findOffers(
  { control, inEach }: OfferSources,
  of: { email: string; issuer: string; loginId: number | null },
  accountId: number | null = null,
): Promise<Offer[]> {
  const values = [of.email, of.loginId, accountId];
  const members = await inEach(async (cell) => (await cell.query<InvitedMember>(find, values)).rows);
  const ids = members.flatMap(({ login_id }) => (login_id === null ? [] : [login_id]));
  const { rows } = await control.query<LoginRow>(selectLogins, [ids]);
  const logins = new Map(rows.map((login) => [login.login_id, login]));
  return members
    .map((member) => ({ member, login: logins.get(member.login_id ?? 0) }))
    .filter(({ member, login }) => {
      if (member.login_id === null) return isStillInvited(member);
      return login !== undefined && (login.account_id !== null || login.oidc_issuer !== of.issuer);
    })
    .map(({ member, login }) => ({ ...offerTo(member), joined: (login?.account_id ?? null) !== null }))
    .toSorted((one, other) => one.account_id - other.account_id);
}

function isStillInvited({ invited_by, inviter_roles, roles }: InvitedMember): boolean {
  return makerStillMay({ id: invited_by, roles: inviter_roles }, roles);
}

function offerTo({ invited_by: _by, inviter_roles: _roles, ...offer }: InvitedMember): Omit<Offer, 'joined'> {
  return offer;
}

interface LoginRow {
  login_id: number;
  account_id: number | null;
  oidc_issuer: string | null;
}

/**
 * What to make of an error of {@link findOffers}: a member needs no offer, so a cell that is down stops none of them. Rethrows
 * any other error.
 */
export function noOffersTo(isMember: boolean): (error: unknown) => Offer[] {
  return (error) => {
    if (isMember && isStoreFailure(error)) return [];
    throw error;
  };
}

const selectIssuer =
  'select oidc_issuer as issuer from login where login_id = $1 and oidc_issuer is not null';

/** {@link findOffers} for the person of a session; empty unless a provider verified the address. */
export async function offersTo(
  sources: OfferSources,
  { loginId, provedEmail }: { loginId: number; provedEmail: string | null },
  accountId: number | null = null,
): Promise<Offer[]> {
  const [login] = (await sources.control.query<{ issuer: string }>(selectIssuer, [loginId])).rows;
  if (provedEmail === null || login === undefined) return [];
  return findOffers(sources, { email: provedEmail, issuer: login.issuer, loginId }, accountId);
}
