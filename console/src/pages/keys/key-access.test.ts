import { expect, test } from 'vitest';
import type { ApiKey } from './api-key-lifetime.ts';
import { ANY_ACCESS, accessIn, draftOf, restrictionText } from './key-access.ts';

const key = (scopes: ApiKey['scopes'], allowed_addresses: string[] | null) =>
  ({ scopes, allowed_addresses }) as ApiKey;

test('addresses are separated by lines, blanks or commas, and none means any', () => {
  const addresses = ' 10.0.0.1,10.0.0.2\n\n2001:db8::/32\t';
  expect(accessIn({ ...ANY_ACCESS, addresses }).allowed_addresses).toEqual([
    '10.0.0.1',
    '10.0.0.2',
    '2001:db8::/32',
  ]);
  expect(accessIn(ANY_ACCESS)).toEqual({ scopes: null, allowed_addresses: null });
});

test('choosing no group is sent as it is, so that it is refused and never means all', () => {
  expect(accessIn({ isLimited: true, scopes: [], addresses: '' }).scopes).toEqual([]);
});

test.each([key(null, null), key(['ops', 'team'], null), key(['health'], ['10.0.0.0/8', '::1'])])(
  'a draft of %j is sent back unchanged',
  (one) => {
    expect(accessIn(draftOf(one))).toEqual({ ...one });
  },
);

test.each([
  [key(null, null), null],
  [key(['health', 'ops'], null), 'Only Health, Tickets'],
  [key(null, ['10.0.0.1']), 'Only from 10.0.0.1'],
  [key(['team'], ['10.0.0.1', '::1']), 'Only Team, from 2 addresses'],
])('%j is shown as %j', (one, text) => {
  expect(restrictionText(one)).toBe(text);
});
