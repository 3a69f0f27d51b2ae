import { expect, test } from 'vitest';
import { rangeSearch, searchOf, spanOf, zoomed } from './chart-range.ts';

const NOW = Date.parse('2026-11-22T17:00:00Z') / 1_000;
const DAY = 86_400;

test('an untrusted URL gives known ranges and times only', () => {
  expect(rangeSearch({ range: '7d', from: '2026-11-01', to: '<script>' })).toEqual({
    range: '7d',
    from: '2026-11-01',
  });
  expect(rangeSearch({ range: 'x', from: 'x' })).toEqual({});
});

test('the range is 24 hours by default', () => {
  expect(spanOf({}, NOW)).toEqual({ from: NOW - DAY, to: NOW });
  expect(spanOf({ range: '1h' }, NOW)).toEqual({ from: NOW - 3_600, to: NOW });
});

test('of what is younger than the range, its life so far is shown', () => {
  expect(spanOf({ range: '7d' }, NOW, NOW - DAY)).toEqual({ from: NOW - DAY, to: NOW });
  expect(spanOf({ range: '1h' }, NOW, NOW - DAY)).toEqual({ from: NOW - 3_600, to: NOW });
  expect(spanOf({}, NOW, NOW - 5)).toEqual({ from: NOW - 120, to: NOW });
  const custom = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' };
  expect(spanOf(custom, NOW, NOW - 5)).toEqual(spanOf(custom, NOW));
});

test('a custom range ends now at the latest and has at most 13 months', () => {
  const { from, to } = spanOf({ from: '2001-01-01', to: '2040-01-01' }, NOW);
  expect(to).toBe(NOW);
  expect(to - from).toBe(397 * DAY);
});

test('a range that ends before it begins is short instead of empty', () => {
  const { from, to } = spanOf({ from: '2026-11-20T00:00:00Z', to: '2026-11-10T00:00:00Z' }, NOW);
  expect(to - from).toBe(120);
});

test('a zoom survives the URL', () => {
  const span = { from: NOW - 7_200, to: NOW - 3_600 };
  expect(spanOf(searchOf(span), NOW)).toEqual(span);
});

test('zooming in keeps the centre in its place', () => {
  expect(zoomed({ from: 0, to: 4_000 }, 1_000, 0.5, NOW)).toEqual({ from: 500, to: 2_500 });
});

test('zooming out ends now', () => {
  const { from, to } = zoomed({ from: NOW - DAY, to: NOW }, NOW - DAY / 2, 2, NOW);
  expect([to, to - from]).toEqual([NOW, 2 * DAY]);
});
