import { hash, randomBytes } from 'node:crypto';

/** A new opaque token of 256 random bits. The caller shows the token once and stores its hash ({@link hashToken}). */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The SHA-256 of a token, 32 bytes. Only the hash is stored; 256 random bits need no salt. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
