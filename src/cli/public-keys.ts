import { createPublicKey } from 'node:crypto';
import { readTextFile } from '../config/text-file.ts';
import { UsageError } from './usage-error.ts';

const KEY = /^[0-9a-f]{64}$/;

/**
 * The keys of `--public-key`, hexadecimal: the argument itself, the lines of a file, or the key in an export's
 * `public-key.pem`. Throws {@link UsageError}.
 */
export function publicKeysOf(text: string): string[] {
  if (KEY.test(text)) return [text];
  const content = read(text);
  const keys = content.includes('-----BEGIN') ? [keyOfPem(content)] : content.split(/\s+/).filter(Boolean);
  if (keys.length > 0 && keys.every((key) => KEY.test(key))) return keys;
  throw new UsageError(
    '--public-key must be the 64 digits that "activity seal --public-key" prints, or a file of such keys, one per line.',
  );
}

function read(path: string): string {
  try {
    return readTextFile(path);
  } catch {
    return '';
  }
}

function keyOfPem(pem: string): string {
  try {
    const { x = '' } = createPublicKey(pem).export({ format: 'jwk' });
    return Buffer.from(x, 'base64url').toString('hex');
  } catch {
    return '';
  }
}
