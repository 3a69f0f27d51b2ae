import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Keys of 32 bytes. The first encrypts, all decrypt, so that the key can be rotated (docs/secrets.md). */
export type SecretKeys = readonly [Buffer, ...Buffer[]];

/** Gives new keys to everyone who holds `keys`, as when their file was changed. */
export function replaceKeys(keys: SecretKeys, next: SecretKeys): void {
  (keys as unknown as Buffer[]).splice(0, keys.length, ...next);
}

// Format: version 1, nonce (12 bytes), tag (16 bytes), ciphertext. Nonces are random. They do not repeat, because a key
// encrypts far fewer than 2^32 texts (NIST SP 800-38D, section 8.3).
const VERSION = 1;
const HEAD = 1 + 12 + 16;

/** Encrypts bytes with AES-256-GCM and the first key. Decrypting needs the same `label`, which says what the bytes are. */
export function encrypt([key]: SecretKeys, label: string, bytes: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(label));
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
}

/** Decrypts what {@link encrypt} returned. Returns null if no key fits, the label differs or a byte was altered. */
export function decrypt(keys: SecretKeys, label: string, encrypted: Buffer): Buffer | null {
  if (encrypted[0] !== VERSION || encrypted.length < HEAD) return null;
  for (const key of keys) {
    const bytes = decryptWith(key, label, encrypted);
    if (bytes) return bytes;
  }
  return null;
}

function decryptWith(key: Buffer, label: string, encrypted: Buffer): Buffer | null {
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(1, 13), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(label)).setAuthTag(encrypted.subarray(13, HEAD));
  try {
    return Buffer.concat([decipher.update(encrypted.subarray(HEAD)), decipher.final()]);
  } catch {
    return null;
  }
}
