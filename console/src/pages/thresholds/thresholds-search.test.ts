import { expect, test } from 'vitest';
import { thresholdsSearch } from './thresholds-search.ts';

test('the address of a view, a filter and an open check', () => {
  const address = { view: 'silences', q: ' dead ', list: 'set', check: 'PG_DEAD_TUPLES' };
  expect(thresholdsSearch(address)).toEqual({ ...address, q: 'dead' });
  expect(thresholdsSearch({})).toEqual({});
});

test('what a stranger wrote into the address is dropped', () => {
  expect(thresholdsSearch({ view: 'x', q: ' ', list: 'all', check: '../x', tag: '1' })).toEqual({});
  expect(thresholdsSearch({ q: 'x'.repeat(999) }).q).toHaveLength(200);
});
