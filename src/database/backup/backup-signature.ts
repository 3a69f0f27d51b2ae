import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

// The number changes with the signed content. The secret key also encrypts credentials, so a key for backups is derived from it.
const INFO = 'dbvitals backup signature 1';

/** The HMAC-SHA-256, hexadecimal, of the SHA-256 of everything before it, with a key derived from a secret key. */
export function signBackup(secretKey: Buffer, sha256: Buffer): string {
  return mac(secretKey, sha256).toString('hex');
}

/** Whether one of the keys of DBVITALS_SECRET_KEY created the signature. */
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
