import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

// Raised when what is signed changes. The same secret key encrypts credentials: this one is derived, for backups alone.
const INFO = 'dbvitals backup signature 1';

/** HMAC-SHA-256, hexadecimal, of the SHA-256 of all that comes before it, by a key that is derived from a secret key. */
export function signBackup(secretKey: Buffer, sha256: Buffer): string {
  return mac(secretKey, sha256).toString('hex');
}

/** Whether one of the keys of DBVITALS_SECRET_KEY made the signature. */
export function isSignedBackup(secretKeys: readonly Buffer[], sha256: Buffer, signature: string): boolean {
  const given = Buffer.from(signature, 'hex');
  return secretKeys.some((key) => {
    const own = mac(key, sha256);
    return given.length === own.length && timingSafeEqual(given, own);
  });
}

function mac(secretKey: Buffer, sha256: Buffer): Buffer {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', INFO, 32));
  return createHmac('sha256', key).update(sha256).digest();
}
