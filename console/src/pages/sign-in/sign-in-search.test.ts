import { expect, test } from 'vitest';
import { signInSearch } from './sign-in-search.ts';

test.each(['/fleet', '/connections/3?finding=x', '/tickets?status=open#top'])(
  '%s is a valid next page',
  (next) => {
    expect(signInSearch({ next })).toEqual({ next });
  },
);

test('an error code of single sign-on is kept, other text is not', () => {
  expect(signInSearch({ error: 'not_invited' })).toEqual({ error: 'not_invited' });
  expect(signInSearch({ error: 'Call 555-0100 for a new password' })).toEqual({});
  expect(signInSearch({ error: 'toString' })).toEqual({});
});

test.each([
  'https://evil.example/',
  '//evil.example/fleet',
  '/\\evil.example',
  'javascript:alert(1)',
  '/\t/evil.example',
  'fleet',
  '',
  'http://[',
  '/.//evil.example',
  '/fleet//evil.example',
  '/fleet\r\nlocation: https://evil.example',
  `/tickets?q=${'x'.repeat(1_000)}`,
])('%j is no valid next page', (next) => {
  expect(signInSearch({ next })).toEqual({});
});
