import { hash, randomBytes } from 'node:crypto';

/** A new opaque token of 256 random bits. Its maker shows it once and stores {@link hashToken} of it. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of a token, 32 bytes: the only form of it that is stored. Its 256 random bits need no salt. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
