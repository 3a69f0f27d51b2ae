import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bearerToken,
  belowBase,
  isForwardedWell,
  pagePath,
  plainAddress,
  recordable,
  routedUrl,
} from './edge.ts';

describe('routedUrl', () => {
  test.each([
    ['/api/v1/health/fleet', '/api/v1/health/fleet'],
    ['//api//v1///health/fleet//?a=//b/', '/api/v1/health/fleet?a=//b/'],
    ['/api/v1/health/fleet/', '/api/v1/health/fleet'],
    ['/', '/'],
    ['http://example.com/api/v1/health/fleet?x=1', '/api/v1/health/fleet?x=1'],
    ['/api/v1/%zz', '/api/v1/%25zz'],
    ['/api/v1/a%20b', '/api/v1/a%20b'],
    ['/%61pi/v1/%6fps/%73t%61ts?a=%61', '/api/v1/ops/stats?a=%61'],
    ['/api/v1/a%2Fb%2561', '/api/v1/a%2Fb%2561'],
  ])('%s is routed as %s', (url, routed) => {
    expect(routedUrl(url)).toBe(routed);
  });

  test('returns a path that can be decoded, for any input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(() => pagePath(routedUrl(`/${text}`))).not.toThrow();
      }),
    );
  });
});

test.each([
  ['/tools/dbv/api/v1/ops/stats?a=1', '/api/v1/ops/stats?a=1'],
  ['/api/v1/ops/stats', '/api/v1/ops/stats'], // the proxy removed it
  ['/tools/dbv', '/'],
  ['/tools/dbv?a=1', '/?a=1'],
  ['/tools/dbvitals/fleet', '/tools/dbvitals/fleet'],
  ['/tools/dbv/tools/dbv/fleet', '/tools/dbv/fleet'],
])('below /tools/dbv %s is %s', (routed, below) => {
  expect(belowBase(routed, '/tools/dbv')).toBe(below);
  expect(belowBase(routed, '')).toBe(routed);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:40123', '203.0.113.7'],
  ['[2001:db8::1]:40123', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['unknown', 'unknown'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['[0:0:0:0:0:FFFF:203.0.113.7]:40123', '203.0.113.7'],
])('the address %s is logged as %s', (address, logged) => expect(plainAddress(address)).toBe(logged));

test("a proxy's headers must be an address, a host, and http or https", () => {
  const well = { ip: '203.0.113.7:40123', host: 'db.example.com:8443', protocol: 'https' };
  expect(isForwardedWell(well)).toBe(true);
  for (const wrong of [
    { ip: 'unknown' },
    { ip: '203.0.113.7 x' },
    { host: 'a b' },
    { host: 'a/b' },
    { host: '1.2.3.256' },
    { host: 'db.example.com:99999' },
    { protocol: 'ftp' },
  ])
    expect(isForwardedWell({ ...well, ...wrong }), JSON.stringify(wrong)).toBe(false);
});

describe('bearerToken', () => {
  test.each([
    [['Authorization', 'Bearer abc'], 'abc'],
    [['authorization', 'bEARER   abc '], 'abc'],
    [['Authorization', 'Basic abc'], null],
    [['Authorization', 'Bearer'], null],
    [['Authorization', 'Bearer '], null],
    [['Authorization', 'Bearer a b'], null],
    [['Authorization', 'Bearer abc \t'], 'abc'],
    [['Authorization', 'Bearer abc\u00a0'], 'abc\u00a0'],
    [['Authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer a'], null],
    [['Host', 'x'], null],
  ])('of %j is %j', (headers, token) => {
    expect(bearerToken(headers)).toBe(token);
  });
});

test('recordable text contains no NUL, no lone surrogate and no key', () => {
  expect(recordable('a\0b\ud800c')).toBe('ab\ufffdc');
  expect(recordable('\x7f\x9b31m\u2028')).toBe('\\u007f\\u009b31m\\u2028');
  expect(recordable(`x dbv_live_${'A'.repeat(49)}/y`)).toBe('x dbv_live_…/y');
});
