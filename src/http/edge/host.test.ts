import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isHost } from './host.ts';

test.each([
  'localhost',
  'DB-1.example.com:8443',
  'my_host',
  'example.com.',
  'xn--mller-kva.example',
  '1a.example',
  '203.0.113.7',
  '203.0.113.7:1',
  '[::1]',
  '[2001:db8::7]:65535',
  '[::ffff:203.0.113.7]:80',
])('%s is a host', (text) => expect(isHost(text)).toBe(true));

test.each([
  '',
  '.',
  '..',
  'a..b',
  '.a',
  ':80',
  'a:',
  'a:b',
  'a:0',
  'a:00',
  'a:65536',
  '127.0.0.1:99999',
  '1.2.3.256',
  '1.2.3',
  '1',
  'a.b.c.1',
  'a.0x1',
  'a.1.',
  '0x7f000001',
  '1.2.3.4.',
  '[::::]',
  '[::1',
  '::1',
  '[]',
  '[::1%eth0]',
  '[1.2.3.4]',
  '[::1]x',
  '[::1]:0',
  '[::g]',
  'a b',
  'a/b',
  'a@b',
  'a?b',
  'a#b',
  'a\\b',
  'a%41',
  'é',
  'a,b',
  `${'a'.repeat(64)}.b`,
  'a.'.repeat(130),
])('%j is not a host', (text) => expect(isHost(text)).toBe(false));

const piece = fc.constantFrom(...'0123456789abcdefxAXN.-_:[]%@/ é', '127.0.0.1', '::', ':80', 'xn--', '0x');

test('every accepted text makes a URL with exactly this host', () => {
  const hosts = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(hosts, (text) => {
      if (!isHost(text)) return;
      const { hostname, username, pathname } = new URL(`http://${text}/`);
      expect([username, pathname]).toEqual(['', '/']);
      if (!text.startsWith('[')) expect(hostname).toBe(text.toLowerCase().replace(/:\d+$/, ''));
    }),
    { numRuns: 20_000 },
  );
});
