import type pg from 'pg';
import { changeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { hashToken } from '../../platform/token.ts';
import { type Permission, permissionsOf } from '../../vocabulary/role-permissions.ts';
import { fingerprintOf } from './collector-row.ts';

/** The permission to enrol and revoke collectors: a collector has a key, as a reader of the API has. */
export const MAY_ENROL: Permission = 'keys:write';

/** The token was never made, was used, expired or was replaced, or its maker may no longer make it. Which of them is not said. */
export const invalidToken = new Rejection(
  'unauthorized',
  'This enrolment token does not exist, was used or has expired: make a new one with "collector enrol".',
);

const find = `
  select c.collector_id as id, c.name, c.token_by, m.roles
    from collector c
    left join member m on m.account_id = c.account_id and m.member_id = c.token_by and m.status = 'active'
   where c.account_id = $1 and c.token_hash = $2 and c.token_expires_at > clock_timestamp()`;

const use = `
  update collector
     set public_key = $3, version = $4, enrolled_at = $5, last_contact_at = clock_timestamp(), revoked_at = null,
         nonces = '{}', token_hash = null, token_expires_at = null, token_by = null
   where account_id = $1 and collector_id = $2`;

interface TokenRow {
  id: number;
  name: string;
  token_by: number | null;
  roles: string[] | null;
}

/** What a collector sends to enrol itself, and from where. */
export interface Enrolment {
  token: string;
  /** As the operator of the collector has it; it must be the one that the token was made for. */
  name: string;
  /** Ed25519, 32 bytes. */
  publicKey: Buffer;
  version: string;
  address: string;
}

/** Whether an account has this token, without a lock: a guess must not wait for the account's log. */
export async function hasToken(writer: pg.Pool, accountId: number, token: string): Promise<boolean> {
  return (await findToken(writer, find, [accountId, hashToken(token)])) !== null;
}

/**
 * Enrols a collector by its token, which is void afterwards. The member who made it must still have the permission. Throws
 * {@link invalidToken}, or a {@link Rejection} if the token is for a collector of another name, and then stays valid.
 */
export async function enrolCollector(
  writer: pg.Pool,
  accountId: number,
  { token, name, publicKey, version, address }: Enrolment,
): Promise<{ id: number; fingerprint: string }> {
  const values = [accountId, hashToken(token)];
  return changeAccount(writer, accountId, async ({ client, at, record }) => {
    const found = await findToken(client, `${find} for update of c`, values);
    if (!found) throw invalidToken;
    if (found.name.toLowerCase() !== name.toLowerCase())
      throw new Rejection(
        'conflict',
        'This token is for a collector of another name: start it with that --name.',
      );
    await client.query(use, [accountId, found.id, publicKey, version, at]);
    const fingerprint = fingerprintOf(publicKey);
    record('collector_enrolled', '/collectors', {
      collector_id: found.id,
      name: found.name,
      fingerprint,
      source_ip: address,
    });
    return { id: found.id, fingerprint };
  });
}

/** Null also if who made the token has lost the permission. */
async function findToken(
  client: pg.Pool | pg.ClientBase,
  statement: string,
  values: unknown[],
): Promise<TokenRow | null> {
  const [found] = (await client.query<TokenRow>(statement, values)).rows;
  if (!found) return null;
  return found.token_by === null || permissionsOf(found.roles ?? []).has(MAY_ENROL) ? found : null;
}
