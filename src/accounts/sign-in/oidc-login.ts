import type pg from 'pg';
import { one } from '../../store/one.ts';
import { foldedEmail } from '../members/email.ts';
import { findOffers, noOffersTo, type OfferSources } from '../members/find-offers.ts';
import type { Person } from './identity-provider.ts';
import type { SignInParts } from './sign-in-request.ts';

/** Why a person verified by the provider can't sign in. */
export class OidcLoginRejected extends Error {
  readonly reason: 'not_invited' | 'unverified' | 'taken';

  constructor(reason: OidcLoginRejected['reason']) {
    super(`nobody can sign in as this person: ${reason}`);
    this.reason = reason;
  }
}

const bySubject = 'select login_id from login where oidc_issuer = $1 and oidc_subject = $2';

const insert = `
  insert into login (email, name, oidc_issuer, oidc_subject) values ($1, $1, $2, $3)
  returning login_id`;

const keepEmail = 'update login set email = $2 where login_id = $1 and email <> $2';

const actsSomewhere = `select account_id, login_id from member where login_id = $1 and status = 'active'`;

// Another person at this provider had the address before and is still a member.
const ofEmail = `
  select account_id, login_id from member where ${foldedEmail('email')} = $1 and login_id is not null`;
const taken = `
  select from login where login_id = any($1) and oidc_issuer = $2 and oidc_subject <> $3 limit 1`;

/** A person of the provider who may sign in. */
interface Entered {
  loginId: number;
  /** Whether they are an active member of an account. */
  acts: boolean;
  /** Whether an invitation is waiting for their answer. */
  isInvited: boolean;
}

/**
 * The login of a person at the provider. It joins no account: the person accepts each invitation. No login is created for
 * a person without an invitation. Throws {@link OidcLoginRejected}.
 */
export async function oidcLogin(
  { control, stores }: Pick<SignInParts, 'control' | 'stores'>,
  person: Person,
): Promise<Entered> {
  const { issuer, subject, email } = person;
  // No transaction: its connection would be held while the cells are asked, which need connections of the same pool.
  const inEach: OfferSources['inEach'] = (find) => stores.inEach(({ writer }) => find(writer));
  const [own] = (await control.query<{ login_id: number }>(bySubject, [issuer, subject])).rows;
  if (email === null) {
    if (!own) throw new OidcLoginRejected('unverified');
    if (!(await acts(inEach, own.login_id))) throw new OidcLoginRejected('not_invited');
    return { loginId: own.login_id, acts: true, isInvited: false };
  }
  const isMember = own !== undefined && (await acts(inEach, own.login_id));
  const asked = { email, issuer, loginId: own?.login_id ?? null };
  const offers = await findOffers({ control, inEach }, asked).catch(noOffersTo(isMember));
  if (!isMember && offers.length === 0) {
    const members = await inEach(async (cell) => (await cell.query<Found>(ofEmail, [email])).rows);
    const ids = members.map(({ login_id }) => login_id);
    const { rowCount } = await control.query(taken, [ids, issuer, subject]);
    throw new OidcLoginRejected(rowCount === 0 ? 'not_invited' : 'taken');
  }
  if (own) await control.query(keepEmail, [own.login_id, email]);
  const loginId = own?.login_id ?? (await insertLogin(control, [email, issuer, subject]));
  return { loginId, acts: isMember, isInvited: offers.some(({ joined }) => !joined) };
}

interface Found {
  account_id: number;
  login_id: number;
}

async function acts(inEach: OfferSources['inEach'], loginId: number): Promise<boolean> {
  const find = { text: actsSomewhere, values: [loginId] };
  return (await inEach(async (cell) => (await cell.query<Found>(find)).rows)).length > 0;
}

async function insertLogin(control: pg.Pool, values: string[]): Promise<number> {
  return one((await control.query<{ login_id: number }>(insert, values)).rows, 'store a login').login_id;
}
