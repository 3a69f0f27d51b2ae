import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import type { SecretKeys } from '../../../platform/encryption.ts';
import { isChallenge, newChallenge } from './challenges.ts';

const keys: SecretKeys = [randomBytes(32)];

afterEach(() => vi.useRealTimers());

test('a challenge is valid only for its purpose', () => {
  const challenge = newChallenge(keys, 'one');
  expect(challenge).toMatch(/^[\w-]{75}$/);
  expect(isChallenge(keys, 'one', challenge)).toBe(true);
  expect(isChallenge(keys, 'on', challenge)).toBe(false);
  expect(isChallenge(keys, '', challenge)).toBe(false);
});

test('challenges are unique', () => {
  expect(newChallenge(keys, 'one')).not.toBe(newChallenge(keys, 'one'));
});

test('a challenge expires after five minutes', () => {
  vi.useFakeTimers();
  const challenge = newChallenge(keys, 'one');
  vi.advanceTimersByTime(299_999);
  expect(isChallenge(keys, 'one', challenge)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(isChallenge(keys, 'one', challenge)).toBe(false);
});

test('a challenge of the previous key is valid while that key is configured', () => {
  const next = randomBytes(32);
  const challenge = newChallenge(keys, 'one');
  expect(isChallenge([next, ...keys], 'one', challenge)).toBe(true);
  expect(isChallenge([next], 'one', challenge)).toBe(false);
});

test('an altered, shortened or lengthened challenge is invalid', () => {
  const bytes = Buffer.from(newChallenge(keys, 'one'), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const altered = Buffer.from(bytes);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(isChallenge(keys, 'one', altered.toString('base64url')), String(bit)).toBe(false);
  }
  for (let length = 0; length < bytes.length; length += 1) {
    expect(isChallenge(keys, 'one', bytes.subarray(0, length).toString('base64url'))).toBe(false);
  }
  expect(isChallenge(keys, 'one', Buffer.concat([bytes, Buffer.of(0)]).toString('base64url'))).toBe(false);
});
