import { expect, test } from 'vitest';
import { allowsAddress, keyAccess } from './key-access.ts';

const LIST = ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32', '2001:db9::7'];

test.each([
  ['203.0.113.0', true],
  ['203.0.113.255', true],
  ['203.0.114.0', false],
  ['198.51.100.7', true],
  ['198.51.100.8', false],
  ['2001:db8:ffff::1', true],
  ['2001:db9::7', true],
  ['2001:db9::8', false],
  ['::1', false],
  ['127.0.0.1', false],
  // No address: what a proxy or a closed socket may leave.
  ['', false],
  ['unknown', false],
])('%j is allowed: %j', (address, allowed) => {
  expect(allowsAddress(keyAccess(1, null, LIST), address)).toBe(allowed);
});

test('a network of one family contains no address of the other', () => {
  expect(allowsAddress(keyAccess(1, null, ['::/0']), '203.0.113.7')).toBe(false);
  expect(allowsAddress(keyAccess(1, null, ['0.0.0.0/0']), '2001:db8::1')).toBe(false);
  expect(allowsAddress(keyAccess(1, null, ['0.0.0.0/0']), '203.0.113.7')).toBe(true);
});

test('without a list every address is allowed', () => {
  expect(allowsAddress(keyAccess(1, null, null), '203.0.113.7')).toBe(true);
});
