import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import type { SignedContent } from './sign.ts';

/** RFC 8410: a public key of Ed25519 in SPKI is this and the key. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether one of the signatures in `webhook-signature` is right, by a `whsec_` secret or a `whpk_` public key. */
export function verifiesSignature({ id, at, body }: SignedContent, header: string, secret: string): boolean {
  const content = Buffer.from(`${id}.${at}.${body}`);
  const isPublic = secret.startsWith('whpk_');
  const key = Buffer.from(secret.replace(/^wh(?:sec|pk)_/, ''), 'base64');
  if (isPublic && key.length !== 32) return false;
  const version = isPublic ? 'v1a' : 'v1';
  return header
    .split(' ', 10)
    .filter((one) => one.startsWith(`${version},`))
    .map((one) => Buffer.from(one.slice(version.length + 1), 'base64'))
    .some((given) => (isPublic ? isSignedBy(key, content, given) : isAuthentic(key, content, given)));
}

function isAuthentic(key: Buffer, content: Buffer, given: Buffer): boolean {
  const expected = createHmac('sha256', key).update(content).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function isSignedBy(key: Buffer, content: Buffer, given: Buffer): boolean {
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI, key]), format: 'der', type: 'spki' });
  return given.length === 64 && verify(null, content, publicKey, given);
}
