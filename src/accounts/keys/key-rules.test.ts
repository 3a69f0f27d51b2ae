import { expect, test } from 'vitest';
import { allowedAddress, requireRules } from './key-rules.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  [' 203.0.113.7\n', '203.0.113.7'],
  ['203.0.113.7/32', '203.0.113.7'],
  ['203.0.113.0/24', '203.0.113.0/24'],
  ['203.0.113.128/25', '203.0.113.128/25'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:DB8:0:0::7', '2001:db8::7'],
  ['2001:db8::/32', '2001:db8::/32'],
  ['2001:db8::7/128', '2001:db8::7'],
  ['::/0', '::/0'],
  ['::1', '::1'],
  // A client with an IPv4 address has no IPv6 prefix, so an entry must have none either.
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
  ['::ffff:0.0.0.0/96', '0.0.0.0/0'],
])('%j is stored as %j', (text, stored) => {
  expect(allowedAddress(text)).toBe(stored);
  expect(allowedAddress(stored)).toBe(stored);
});

test.each([
  '',
  ' ',
  'localhost',
  'example.com',
  '203.0.113',
  '203.0.113.256',
  '203.0.113.7/33',
  '203.0.113.7/-1',
  '203.0.113.7/24',
  '10.0.0.1/8',
  '0.0.0.1/0',
  '2001:db8::7/64',
  '2001:db8::/129',
  '::1/0',
  '203.0.113.0/024',
  '203.0.113.0/',
  '/24',
  '203.0.113.0/24/24',
  '010.0.0.1',
  '0x7f.0.0.1',
  '2130706433',
  'fe80::1%eth0',
  '[::1]',
  '127.0.0.1:80',
  '::ffff:203.0.113.7/24',
  '::ffff:0.0.0.0/95',
  '*',
  '10.0.0.0-10.0.0.9',
  '203.0.113.7\n198.51.100.1',
  '203.0.113.7,198.51.100.1',
  '203.0.113.7\0',
])('%j is no address', (text) => {
  expect(allowedAddress(text)).toBeNull();
});

test('rules are stored in one order, each once, and what is absent stays absent', () => {
  expect(requireRules({ scopes: ['team', 'health', 'team'] })).toEqual({ scopes: ['health', 'team'] });
  expect(requireRules({ allowedAddresses: ['::1', '10.0.0.1', '10.0.0.1/32'] })).toEqual({
    allowedAddresses: ['10.0.0.1', '::1'],
  });
  expect(requireRules({ scopes: null, allowedAddresses: null })).toEqual({
    scopes: null,
    allowedAddresses: null,
  });
  expect(requireRules({})).toEqual({});
});

test.each([
  [{ scopes: [] }, 'scopes'],
  [{ scopes: ['Health'] }, 'scopes'],
  [{ allowedAddresses: [] }, 'allowed_addresses'],
  [{ allowedAddresses: ['10.0.0.1', 'office'] }, 'allowed_addresses'],
  [{ allowedAddresses: Array.from({ length: 101 }, (_, n) => `10.0.0.${n}`) }, 'allowed_addresses'],
])('%j is refused: it never means everything', (rules, parameter) => {
  expect(() => requireRules(rules)).toThrow(
    expect.objectContaining({ code: 'invalid_parameter', parameter }),
  );
});
