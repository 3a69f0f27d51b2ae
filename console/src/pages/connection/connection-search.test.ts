import { expect, test } from 'vitest';
import { connectionSearch, listSearch, openTab } from './connection-search.ts';

test('every state of the page has an address', () => {
  const search = {
    status: 'critical',
    finding: 'PG_WRAPAROUND.7',
    change: 'setting',
    compare: '3-12',
    edit: 'settings',
    query: '-8123456789012345678',
  };
  const kinds = connectionSearch(search);
  expect(kinds).toMatchObject({ status: 'critical', compare: '3-12', edit: 'settings' });
  expect(kinds.query).toBe(search.query);
  const filter = { tab: 'queries', database: 'shop', role: "o'hara", own: 'shown' };
  expect(connectionSearch(filter)).toEqual(filter);
  const list = { tab: 'queries', range: '7d', application: '007', own: 'shown' };
  expect(listSearch(connectionSearch({ ...list, query: '12', role: 'app', database: 'shop' }))).toEqual(list);
  const unnamed = { tab: 'queries', unnamed: 'application' };
  expect(listSearch(connectionSearch({ ...unnamed, query: '12' }))).toEqual(unnamed);
  expect(connectionSearch({ unnamed: 'role' })).toEqual({});
  expect(connectionSearch({ role: 'r'.repeat(200) }).role).toHaveLength(100);
  expect(connectionSearch({ query: 'a'.repeat(64) })).toEqual({ query: 'a'.repeat(64) });
});

test.each([
  { edit: 'remove' },
  { own: 'all' },
  { days: '7' },
  { query: '../../members' },
  { query: 'a'.repeat(65) },
  { compare: '12-3' },
  { status: 'urgent' },
])('%j is dropped', (given) => {
  expect(connectionSearch(given as Record<string, string>)).toEqual({});
});

test.each([
  [{}, 'overview'],
  [{ finding: 'PG_WRAPAROUND' }, 'findings'],
  [{ status: 'ok' }, 'findings'],
  [{ query: '12' }, 'queries'],
  [{ compare: '3-12' }, 'changes'],
  [{ change: 'setting' }, 'changes'],
  [{ range: '7d' }, 'charts'],
  [{ range: '7d', tab: 'overview' }, 'overview'],
  [{ tab: '../settings' }, 'overview'],
])('%j opens the tab %s', (given, tab) => {
  expect(openTab(connectionSearch(given as Record<string, string>))).toBe(tab);
});
