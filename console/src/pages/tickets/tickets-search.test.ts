import { expect, test } from 'vitest';
import { ticketsSearch } from './tickets-search.ts';

test('the URL sets the filters that it names', () => {
  const given = {
    status: 'all',
    severity: 'critical',
    connection_id: '3',
    from: '2026-01-31',
    to: '2026-02-01T12:00:00Z',
    ticket: '41',
  };
  expect(ticketsSearch(given)).toEqual(given);
});

test('invalid filters are dropped', () => {
  const given = {
    status: 'shut',
    severity: 'grave',
    connection_id: '0',
    from: 'yesterday',
    to: '5',
    ticket: '-1',
  };
  expect(ticketsSearch({ ...given, page: '3' })).toEqual({});
});
