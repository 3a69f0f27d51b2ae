import type pg from 'pg';
import { type Change, changeWithin } from '../activity/record-entry.ts';
import { inTransaction } from '../database/connect.ts';
import type { Person } from './identity-provider.ts';

/** Why a person whom the provider vouches for can't act anywhere. */
export class NoLogin extends Error {
  readonly reason: 'not_invited' | 'unverified' | 'taken';

  constructor(reason: NoLogin['reason']) {
    super(`nobody can sign in as this person: ${reason}`);
    this.reason = reason;
  }
}

const bySubject = 'select login_id from login where oidc_issuer = $1 and oidc_subject = $2';

// Taken: the address was another person's of this provider, who is still a member.
const byEmail = `
  select l.login_id,
         l.oidc_issuer is not distinct from $2
           and exists (select from member m where m.login_id = l.login_id) as taken
    from login l
   where lower(l.email) = $1`;

// In the order in which accounts are locked.
const memberships = `
  select m.account_id, m.member_id, m.name, true as joined
    from member m
   where m.login_id = $1
   union all
  select m.account_id, m.member_id, m.name, false
    from member m
   where lower(m.email) = $2
     and m.login_id is null
     and m.status <> 'suspended'
     and not exists (select from member o where o.account_id = m.account_id and o.login_id = $1)
   order by account_id, member_id`;

const insert = `
  insert into login (email, name, oidc_issuer, oidc_subject) values ($1, $2, $3, $4)
  returning login_id`;

const join = `
  update member
     set login_id = $3, joined_at = case status when 'invited' then $4 else joined_at end, status = 'active'
   where account_id = $1 and member_id = $2 and login_id is null and status <> 'suspended'`;

const tell = `
  select name, email, roles, status from member where account_id = $1 and member_id = $2 and login_id = $3`;

const take = 'update login set password = null, oidc_issuer = $2, oidc_subject = $3 where login_id = $1';
const forget = ['delete from passkey where login_id = $1', 'delete from session where login_id = $1'];

interface Membership {
  account_id: number;
  member_id: number;
  name: string;
  joined: boolean;
}

/**
 * The login of a person of the provider, who joins every account that invited their verified address. A login that was made
 * for the address by a link becomes theirs, and loses its password, passkeys and sessions: whoever made it never proved the
 * address. Nothing is made for whom nobody invited. Throws {@link NoLogin}.
 */
export function loginOfPerson(writer: pg.Pool, { issuer, subject, email }: Person): Promise<number> {
  return inTransaction(writer, async (client) => {
    const [own] = (await client.query<{ login_id: number }>(bySubject, [issuer, subject])).rows;
    if (email === null) {
      if (own) return own.login_id;
      throw new NoLogin('unverified');
    }
    const [found] = own
      ? []
      : (await client.query<{ login_id: number; taken: boolean }>(byEmail, [email, issuer])).rows;
    if (found?.taken) throw new NoLogin('taken');
    const known = own ?? found;
    const { rows } = await client.query<Membership>(memberships, [known?.login_id ?? null, email]);
    const [first] = rows;
    if (!own && !first) throw new NoLogin('not_invited');
    const login_id =
      known?.login_id ?? (await insertLogin(client, [email, first?.name ?? email, issuer, subject]));
    const changed = own ? rows.filter(({ joined }) => !joined) : rows;
    for (const { account_id, ...member } of changed) {
      await changeWithin(client, account_id, (change) => enter(change, member, login_id));
    }
    if (found) {
      await client.query(take, [login_id, issuer, subject]);
      for (const statement of forget) await client.query(statement, [login_id]);
    }
    return login_id;
  });
}

async function insertLogin(client: pg.ClientBase, values: string[]): Promise<number> {
  return (await client.query<{ login_id: number }>(insert, values)).rows[0]?.login_id ?? 0;
}

async function enter(
  { client, accountId, at, record }: Change,
  { member_id, joined }: Omit<Membership, 'account_id'>,
  loginId: number,
): Promise<void> {
  if (!joined) await client.query(join, [accountId, member_id, loginId, at]);
  const [member] = (await client.query<{ name: string }>(tell, [accountId, member_id, loginId])).rows;
  if (member)
    record('member_changed', '/sign-in', {
      ...{ member_id, ...member, changed: ['login'], by: 'oidc' },
      ...{ actor_member_id: member_id, actor_name: member.name },
    });
}
