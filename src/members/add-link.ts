import { hash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { one } from '../database/one.ts';

/** What a one-time link is for: to become an owner of the account, to join it as an invited member, to set a new password. */
export type LinkPurpose = 'owner' | 'invitation' | 'reset';

/** How long a link is good for, in seconds: an invitation waits for somebody, the others are used by who asked for them. */
const LIFETIME: Record<LinkPurpose, number> = { owner: 86_400, invitation: 7 * 86_400, reset: 86_400 };

// Of several links for a member the newest alone is good.
const insert = `
  with older as (
    update link set used_at = clock_timestamp()
     where account_id = $1 and member_id = $4 and used_at is null
  )
  insert into link (account_id, token_hash, purpose, member_id, created_by, expires_at)
  values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6))
  returning expires_at`;

/** A new opaque token of 256 random bits. Whoever makes one shows it once and stores {@link hashToken} of it. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of a token, 32 bytes: the only form of it that is stored. Its 256 random bits need no salt. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * Makes a one-time link inside a change; its address is `<origin>/link/<token>`, shown this once. `memberId` is null for the
 * purpose `owner` only; `createdBy` is a member, null = the operator.
 */
export async function recordLink(
  client: pg.ClientBase,
  wanted: { accountId: number; purpose: LinkPurpose; memberId: number | null; createdBy: number | null },
): Promise<{ token: string; expires_at: Date }> {
  const { accountId, purpose, memberId, createdBy } = wanted;
  const token = newToken();
  const { rows } = await client.query<{ expires_at: Date }>(insert, [
    accountId,
    hashToken(token),
    purpose,
    memberId,
    createdBy,
    LIFETIME[purpose],
  ]);
  return { token, ...one(rows, 'store a link') };
}
