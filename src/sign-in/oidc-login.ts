import type pg from 'pg';
import { inTransaction } from '../database/connect.ts';
import { one } from '../database/one.ts';
import { foldedEmail } from '../members/email.ts';
import { findOffers } from '../members/find-offers.ts';
import type { Person } from './identity-provider.ts';

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

const actsSomewhere = `select from member where login_id = $1 and status = 'active' limit 1`;

// Another person at this provider had the address before and is still a member.
const taken = `
  select from member m
    join login l on l.login_id = m.login_id
   where ${foldedEmail('m.email')} = $1 and l.oidc_issuer = $2 and l.oidc_subject <> $3
   limit 1`;

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
export function oidcLogin(writer: pg.Pool, person: Person): Promise<Entered> {
  const { issuer, subject, email } = person;
  return inTransaction(writer, async (client) => {
    const [own] = (await client.query<{ login_id: number }>(bySubject, [issuer, subject])).rows;
    if (email === null) {
      if (!own) throw new OidcLoginRejected('unverified');
      if (!(await acts(client, own.login_id))) throw new OidcLoginRejected('not_invited');
      return { loginId: own.login_id, acts: true, isInvited: false };
    }
    const offers = await findOffers(client, { email, issuer, loginId: own?.login_id ?? null });
    const isMember = own !== undefined && (await acts(client, own.login_id));
    if (!isMember && offers.length === 0) {
      const { rowCount } = await client.query(taken, [email, issuer, subject]);
      throw new OidcLoginRejected(rowCount === 0 ? 'not_invited' : 'taken');
    }
    if (own) await client.query(keepEmail, [own.login_id, email]);
    const loginId = own?.login_id ?? (await insertLogin(client, [email, issuer, subject]));
    return { loginId, acts: isMember, isInvited: offers.some(({ joined }) => !joined) };
  });
}

async function acts(client: pg.ClientBase, loginId: number): Promise<boolean> {
  return (await client.query(actsSomewhere, [loginId])).rowCount === 1;
}

async function insertLogin(client: pg.ClientBase, values: string[]): Promise<number> {
  return one((await client.query<{ login_id: number }>(insert, values)).rows, 'store a login').login_id;
}
