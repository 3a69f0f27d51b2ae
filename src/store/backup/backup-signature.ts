import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type BackupHead, isOfSignedForm, type SignedEnd } from './backup-file.ts';

// The number changes with the signed content. The secret key also encrypts credentials, so a key for backups is derived from it.
const INFO = 'dbvitals backup signature 1';

/** The HMAC-SHA-256, hexadecimal, of the SHA-256 of everything before it, with a key derived from a secret key. */
export function signBackup(secretKey: Buffer, sha256: Buffer): string {
  return mac(secretKey, sha256).toString('hex');
}

/** Throws a sentence if backups with this head have no signature. */
export function requireSignedForm(head: BackupHead): void {
  if (!isOfSignedForm(head)) throw unsignedBackup('it has no signature');
}

/** Throws a sentence unless one of the keys of DBVITALS_SECRET_KEY signed what precedes the end of a backup. */
export function requireSignature(secretKeys: readonly Buffer[], { sha256, signature }: SignedEnd): void {
  if (!isSignedBackup(secretKeys, sha256, signature ?? ''))
    throw unsignedBackup('it was altered, or made with another secret key');
}

function unsignedBackup(why: string): Error {
  return new Error(
    `The backup is not signed with this secret key (${why}), and nothing was restored: use the secret key of the store that was backed up, or --unsigned if you trust the file.`,
  );
}

function isSignedBackup(secretKeys: readonly Buffer[], sha256: Buffer, signature: string): boolean {
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
