import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { hashToken, newToken } from '../../platform/token.ts';
import { one } from '../../store/one.ts';

/** The most collectors of an account, revoked ones included. */
const MOST_COLLECTORS = 100;

/** Minutes in which a token can be used. */
const TOKEN_MINUTES = 60;

const count =
  'select count(*)::int as collectors from collector where account_id = $1 and lower(name) <> lower($2)';

const upsert = `
  insert into collector (account_id, name, created_at, token_hash, token_expires_at, token_by)
  values ($1, $2, $3, $4, clock_timestamp() + make_interval(mins => ${TOKEN_MINUTES}), $5)
  on conflict (account_id, lower(name)) do update
     set token_hash = excluded.token_hash, token_expires_at = excluded.token_expires_at, token_by = excluded.token_by
  returning collector_id as id, name, token_expires_at as expires_at`;

/** A token with which a collector enrols itself, once. It is shown now and never again. */
export interface IssuedToken {
  id: number;
  name: string;
  token: string;
  expires_at: Date;
}

/**
 * Makes a token for the collector of this name, which is added if there is none. A token for a known one replaces its key when it is
 * used: until then the old key stays valid. An earlier token is void.
 */
export async function issueToken(
  { accountId, client, at, memberId, record }: Change,
  name: string,
): Promise<IssuedToken> {
  const { collectors } = one((await client.query(count, [accountId, name])).rows, 'count the collectors');
  if (collectors >= MOST_COLLECTORS)
    throw new Rejection('conflict', `An account has at most ${MOST_COLLECTORS} collectors.`);
  // The account is named so that the service finds the store that has the token.
  const token = `dbv_enrol_${accountId}_${newToken()}`;
  const values = [accountId, name, at, hashToken(token), memberId];
  const { rows } = await client.query<Omit<IssuedToken, 'token'>>(upsert, values);
  const issued = one(rows, 'store a token');
  record('collector_token_created', '/collectors', {
    collector_id: issued.id,
    name: issued.name,
    expires_at: issued.expires_at,
  });
  return { id: issued.id, name: issued.name, token, expires_at: issued.expires_at };
}

const endBy = `
  update collector
     set token_hash = null, token_expires_at = null, token_by = null
   where account_id = $1 and token_by = $2`;

/** Ends the tokens that a member made and nobody used. */
export async function endTokensBy({ client, accountId }: Change, makerId: number): Promise<void> {
  await client.query(endBy, [accountId, makerId]);
}

const TOKEN = /^dbv_enrol_([1-9][0-9]{0,14})_[\w-]{43}$/;

/** The account that a token names; null = no token has this form. */
export function accountOfToken(token: string): number | null {
  const [, accountId] = TOKEN.exec(token) ?? [];
  return accountId === undefined ? null : Number(accountId);
}
