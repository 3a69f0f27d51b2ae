import { expect, test } from 'vitest';
import { checksSearch } from './checks-search.ts';

test('an address opens the form or a check, and nothing else', () => {
  expect(checksSearch({ add: '1', check: 'ORDERS' })).toEqual({ add: '1' });
  expect(checksSearch({ check: 'ORDERS_STUCK' })).toEqual({ check: 'ORDERS_STUCK' });
  expect(checksSearch({ check: '<b>', add: 'yes' })).toEqual({});
});
