import { expect, test } from 'vitest';
import { ticketsSearch } from './tickets-search.ts';

test('an address gives the filters that it names', () => {
  const given = {
    ...{ status: 'all', severity: 'critical', connection_id: '3' },
    ...{ from: '2026-01-31', to: '2026-02-01T12:00:00Z', ticket: '41' },
  };
  expect(ticketsSearch(given)).toEqual(given);
});

test('what is none of them is left out', () => {
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
