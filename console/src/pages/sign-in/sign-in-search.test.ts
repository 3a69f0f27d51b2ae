import { expect, test } from 'vitest';
import { signInSearch } from './sign-in-search.ts';

test.each(['/fleet', '/connections/3?finding=x', '/tickets?status=open#top'])('%s is gone on to', (next) => {
  expect(signInSearch({ next })).toEqual({ next });
});

test('a code of single sign-on is kept, words of a stranger are not', () => {
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
])('%j is not gone on to: it is no page of this service', (next) => {
  expect(signInSearch({ next })).toEqual({});
});
