import { expect, test } from 'vitest';
import { keysSearch } from './keys-search.ts';

test('the URL opens the form filled in', () => {
  expect(keysSearch({ create: '1', name: 'Grafana, production', note: 'vault/grafana' })).toEqual({
    create: '1',
    name: 'Grafana, production',
    note: 'vault/grafana',
  });
});

test('invalid filters, orders and keys are dropped, and a long name is cut', () => {
  expect(
    keysSearch({ status: 'sleeping', sort: '1;drop', key: '01', endpoint: '', name: 'x'.repeat(10_000) }),
  ).toEqual({
    name: 'x'.repeat(200),
  });
  expect(keysSearch({ status: 'expiring', sort: '-used', key: '12', endpoint: '/activity' })).toEqual({
    status: 'expiring',
    sort: '-used',
    key: '12',
    endpoint: '/activity',
  });
});
