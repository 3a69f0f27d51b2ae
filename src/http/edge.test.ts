import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bearerToken, pagePath, recordable, routedUrl } from './edge.ts';

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

  test('gives a path that can be decoded, whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
        expect(() => pagePath(routedUrl(`/${text}`))).not.toThrow();
      }),
    );
  });
});

describe('bearerToken', () => {
  test.each([
    [['Authorization', 'Bearer abc'], 'abc'],
    [['authorization', 'bEARER   abc '], 'abc'],
    [['Authorization', 'Basic abc'], null],
    [['Authorization', 'Bearer'], null],
    [['Authorization', 'Bearer '], null],
    [['Authorization', 'Bearer a b'], null],
    [['Authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer a'], null],
    [['Host', 'x'], null],
  ])('of %j is %j', (headers, token) => {
    expect(bearerToken(headers)).toBe(token);
  });
});

test('recordable text holds no NUL, no lone surrogate and no key', () => {
  expect(recordable('a\0b\ud800c')).toBe('ab\ufffdc');
  expect(recordable('\x7f\x9b31m\u2028')).toBe('\\u007f\\u009b31m\\u2028');
  expect(recordable(`x dbv_live_${'A'.repeat(49)}/y`)).toBe('x dbv_live_…/y');
});
