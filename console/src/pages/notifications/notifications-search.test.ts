import { expect, test } from 'vitest';
import { destinationSearch, notificationsSearch } from './notifications-search.ts';

test('only channels open a form', () => {
  expect(notificationsSearch({ add: 'slack' })).toEqual({ add: 'slack' });
  expect(notificationsSearch({ add: 'channel' })).toEqual({ add: 'channel' });
  expect(notificationsSearch({ add: 'fax', url: 'https://hooks.example.com' })).toEqual({});
});

test('only known states, kinds and ids filter deliveries', () => {
  const good = { state: 'given_up', kind: 'alert.triggered', delivery: '12' };
  expect(destinationSearch(good)).toEqual(good);
  expect(destinationSearch({ state: 'lost', kind: '<b>', delivery: '0' })).toEqual({});
});
