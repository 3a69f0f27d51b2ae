import { expect, test } from 'vitest';
import { ago, duration, utc } from './time.tsx';

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0);
const before = (seconds: number) => new Date(NOW - seconds * 1000);

test.each([
  [0, 'just now'],
  [59, 'just now'],
  [60, '1 minute ago'],
  [3_599, '59 minutes ago'],
  [7_200, '2 hours ago'],
  [86_400, 'yesterday'],
  [-30, 'in a moment'],
  [-3 * 86_400, 'in 3 days'],
  [-(7 * 86_400 - 1), 'in 7 days'],
  [-(86_400 - 60), 'in 1 day'],
  [-23 * 3_600, 'in 23 hours'],
  [-90, 'in 2 minutes'],
  [-59.9, 'in 1 minute'],
  [-3_599.9, 'in 1 hour'],
])('%d seconds ago reads %s', (seconds, words) => {
  expect(ago(before(seconds), NOW)).toBe(words);
});

test.each([
  [0, '0 s'],
  [-5, '0 s'],
  [59.6, '1 min'],
  [61, '1 min 1 s'],
  [3_600, '1 h'],
  [3_661, '1 h 1 min'],
  [90_061, '1 d 1 h'],
  [86_400 + 5, '1 d'],
])('%d seconds are %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words);
});

test('UTC is written to the second', () => {
  expect(utc('2026-01-31T12:00:03.456Z')).toBe('2026-01-31 12:00:03 UTC');
});
