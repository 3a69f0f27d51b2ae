import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import type { SecretKeys } from '../../../platform/encryption.ts';

const LIFETIME_MS = 5 * 60_000;

/** The bytes of a challenge: its expiry, a nonce, and the signature of both. */
const END = 8;
const SIGNED = END + 16;

// Kept longer than any challenge is valid, even if the clocks of service and store differ.
const use = `
  insert into challenge (challenge_hash, expires_at) values ($1, clock_timestamp() + interval '1 hour')
  on conflict do nothing`;

/**
 * Creates a challenge, in base64url, valid for `purpose` and five minutes. It is signed with a key derived from
 * DBVITALS_SECRET_KEY, and only used challenges are stored: any service can verify the answer, and a million requests for
 * challenges fill no table.
 */
export function newChallenge([key]: SecretKeys, purpose: string): string {
  const body = Buffer.concat([Buffer.alloc(END), randomBytes(SIGNED - END)]);
  body.writeBigUInt64BE(BigInt(Date.now() + LIFETIME_MS));
  return Buffer.concat([body, sign(key, purpose, body)]).toString('base64url');
}

/** Whether this service created the challenge for this purpose, and it has not expired. */
export function isChallenge(keys: SecretKeys, purpose: string, challenge: string): boolean {
  const bytes = Buffer.from(challenge, 'base64url');
  const body = bytes.subarray(0, SIGNED);
  const signature = bytes.subarray(SIGNED);
  const isOurs = keys.some((key) => {
    const expected = sign(key, purpose, body);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return isOurs && body.readBigUInt64BE() > BigInt(Date.now());
}

/** Marks a challenge as used; false when it was used before. */
export async function useChallenge(writer: pg.Pool, challenge: string): Promise<boolean> {
  // Hash the bytes: base64url can spell some in several ways.
  const { rowCount } = await writer.query(use, [
    hash('sha256', Buffer.from(challenge, 'base64url'), 'buffer'),
  ]);
  return rowCount === 1;
}

function sign(key: Buffer, purpose: string, body: Buffer): Buffer {
  const own = createHmac('sha256', key).update('challenges of the console').digest();
  return createHmac('sha256', own).update(`${purpose}\n`).update(body).digest();
}
