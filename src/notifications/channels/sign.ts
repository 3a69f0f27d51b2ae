import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import type { SigningSecret } from './channel.ts';

// Standard Webhooks 1.0.0: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
const HMAC = 'whsec_';
const PRIVATE = 'whsk_';
const PUBLIC = 'whpk_';

/** RFC 8410: a PKCS #8 private key of Ed25519 is this and the seed. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** What is signed: the event's id, the time of the attempt in Unix seconds, and the body as it is sent. */
export interface SignedContent {
  id: string;
  at: number;
  body: string;
}

/** A new secret for HMAC-SHA256: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return `${HMAC}${randomBytes(32).toString('base64')}`;
}

/** A new Ed25519 key: `whsk_` and the seed with the public key in base64. The receiver gets {@link publicKeyOf} it. */
export function newSigningKey(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return `${PRIVATE}${Buffer.concat([d, x].map((part) => Buffer.from(part, 'base64url'))).toString('base64')}`;
}

/** The public key of a `whsk_` key, as `whpk_` and base64; null for a `whsec_` secret, which has none. */
export function publicKeyOf(secret: string): string | null {
  if (!secret.startsWith(PRIVATE)) return null;
  const { x = '' } = createPublicKey(privateKey(secret)).export({ format: 'jwk' });
  return `${PUBLIC}${Buffer.from(x, 'base64url').toString('base64')}`;
}

/**
 * The value of `webhook-signature`: a signature by each secret that is valid at the time of the attempt, separated by
 * spaces. During a rotation that is the new secret and the old one.
 */
export function signatures(content: SignedContent, secrets: readonly SigningSecret[]): string {
  return secrets
    .filter(({ until }) => until === null || content.at * 1_000 < Date.parse(until))
    .map(({ secret }) => signature(content, secret))
    .join(' ');
}

function signature({ id, at, body }: SignedContent, secret: string): string {
  const content = Buffer.from(`${id}.${at}.${body}`);
  if (secret.startsWith(PRIVATE)) return `v1a,${sign(null, content, privateKey(secret)).toString('base64')}`;
  if (!secret.startsWith(HMAC)) throw new Error('A signing secret begins with whsec_ or whsk_.');
  return `v1,${createHmac('sha256', bytesOf(secret, HMAC)).update(content).digest('base64')}`;
}

function privateKey(secret: string) {
  const seed = bytesOf(secret, PRIVATE).subarray(0, 32);
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

function bytesOf(secret: string, prefix: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64');
}
