import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Keys of 32 bytes: the first wraps, all open, so that one can follow another (docs/secrets.md). */
export type SecretKeys = readonly [Buffer, ...Buffer[]];

// Version 1, nonce of 12 bytes, tag of 16, ciphertext. A nonce is never used twice: it is random, and a key wraps far
// fewer than 2^32 texts (NIST SP 800-38D, section 8.3).
const VERSION = 1;
const HEAD = 1 + 12 + 16;

/** Wraps bytes with AES-256-GCM under the first key; `label` says what they are and must be given to open them. */
export function wrap([key]: SecretKeys, label: string, bytes: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(label));
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
}

/** What {@link wrap} wrapped; null when no key opens it: it was another, or the label is, or a byte was altered. */
export function unwrap(keys: SecretKeys, label: string, wrapped: Buffer): Buffer | null {
  if (wrapped[0] !== VERSION || wrapped.length < HEAD) return null;
  for (const key of keys) {
    const bytes = unwrapBy(key, label, wrapped);
    if (bytes) return bytes;
  }
  return null;
}

function unwrapBy(key: Buffer, label: string, wrapped: Buffer): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', key, wrapped.subarray(1, 13), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(label)).setAuthTag(wrapped.subarray(13, HEAD));
  try {
    return Buffer.concat([decipher.update(wrapped.subarray(HEAD)), decipher.final()]);
  } catch {
    return null;
  }
}
