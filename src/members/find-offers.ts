import type pg from 'pg';
import { foldedEmail } from './email.ts';

// Members without a login, or with a login whose address this provider did not verify.
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
export interface Offer {
  account_id: number;
  account_name: string;
  member_id: number;
  name: string;
  roles: string[];
  joined: boolean;
  login_id: number | null;
}

/** The memberships that accounts offer to a verified address; `accountId` limits the search to one account. */
export async function findOffers(
  client: pg.ClientBase | pg.Pool,
  of: { email: string; issuer: string; loginId: number | null },
  accountId: number | null = null,
): Promise<Offer[]> {
  return (await client.query<Offer>(find, [of.email, of.issuer, of.loginId, accountId])).rows;
}

const issuerOf = 'select oidc_issuer as issuer from login where login_id = $1 and oidc_issuer is not null';

/** {@link findOffers} for the person of a session; empty unless a provider verified the address. */
export async function offersTo(
  client: pg.ClientBase | pg.Pool,
  { loginId, provedEmail }: { loginId: number; provedEmail: string | null },
  accountId: number | null = null,
): Promise<Offer[]> {
  const [login] = (await client.query<{ issuer: string }>(issuerOf, [loginId])).rows;
  if (provedEmail === null || login === undefined) return [];
  return findOffers(client, { email: provedEmail, issuer: login.issuer, loginId }, accountId);
}
