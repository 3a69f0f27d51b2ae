import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'dbv_live_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 43; // 62^43 > 2^256
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32

/**
 * The format of an API key, for secret scanners: a prefix, 43 random base62 characters, and 6 characters of checksum.
 */
export const KEY_PATTERN = /dbv_live_[0-9A-Za-z]{49}/;

const WHOLE_KEY = new RegExp(`^${KEY_PATTERN.source}$`);

/** Generates an API key of 256 random bits. The caller shows it once and stores only {@link hashKey} of it. */
export function generateKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');
  return PREFIX + random + checksum(PREFIX + random);
}

/** Whether the text is a well-formed key, including its checksum. It says nothing about whether the key is active. */
export function parseKey(text: string): boolean {
  return WHOLE_KEY.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** SHA-256 of the key, 32 bytes: the only form of it that is stored. Its 256 random bits need no salt. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** CRC-32 (IEEE) in base62, most significant digit first, padded with zeros. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
