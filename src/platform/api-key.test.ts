import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateKey, hashKey, KEY_PATTERN, parseKey } from './api-key.ts';

// The checksums were computed independently, with python3's zlib.crc32 and divmod.
const KNOWN = [
  'dbv_live_00000000000000000000000000000000000000000003cHuV7',
  'dbv_live_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz33YBou',
];

test.each(KNOWN)('%s is well-formed', (key) => expect(parseKey(key)).toBe(true));

test('new keys are well-formed, unique, and match the pattern for secret scanners', () => {
  const keys = Array.from({ length: 200 }, generateKey);
  expect(new Set(keys).size).toBe(200);
  for (const key of keys) {
    expect(parseKey(key)).toBe(true);
    expect(KEY_PATTERN.exec(`token="${key}",`)?.[0]).toBe(key);
  }
});

test('a key with one changed character is rejected', () => {
  fc.assert(
    fc.property(fc.nat(57), fc.constantFrom(...'0123456789AZaz-_ '), (at, character) => {
      const key = generateKey();
      const changed = key.slice(0, at) + character + key.slice(at + 1);
      return changed === key || !parseKey(changed);
    }),
  );
});

test('other texts are rejected', () => {
  fc.assert(fc.property(fc.string(), (text) => !parseKey(text)));
  expect(parseKey(`${generateKey()}\n`)).toBe(false);
  expect(parseKey(` ${generateKey()}`)).toBe(false);
});

test('the stored hash is SHA-256', () => {
  expect(hashKey('dbv_live_x')).toEqual(createHash('sha256').update('dbv_live_x').digest());
});
