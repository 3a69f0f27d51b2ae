import { expect, test } from 'vitest';
import { type Forecast, forecastText } from './forecast-text.ts';

const NOW = Date.parse('2026-11-22T17:00:00Z');
const DISK = { unit: 'bytes' as const, warning: 0.8 * 2 ** 40, critical: 0.9 * 2 ** 40, limit: 2 ** 40 };
const inDays = (days: number) => new Date(NOW + days * 86_400_000).toISOString();
const forecast = (given: Partial<Forecast>): Forecast => ({
  per_day: 1.2 * 2 ** 30,
  per_day_low: 0.9 * 2 ** 30,
  per_day_high: 1.5 * 2 ** 30,
  full_at: null,
  full_earliest: null,
  full_latest: null,
  ...given,
});

test.each<[string, Partial<Forecast>, string]>([
  [
    'with a limit',
    { full_at: inDays(41), full_earliest: inDays(26), full_latest: inDays(77) },
    'Full in about 41 days (26 to 77)',
  ],
  [
    'perhaps never',
    { full_at: inDays(41), full_earliest: inDays(26) },
    'Full in about 41 days (26 at the earliest)',
  ],
  [
    'tomorrow',
    { full_at: inDays(1), full_earliest: inDays(1), full_latest: inDays(2) },
    'Full in about 1 day (1 to 2)',
  ],
  ['over', { full_at: inDays(-3), full_earliest: inDays(-4), full_latest: inDays(-2) }, 'Full within a day'],
  ['without a limit', {}, 'Grows by 1.2 GB a day (922 MB to 1.5 GB)'],
])('a forecast %s', (_, given, text) => expect(forecastText(DISK, forecast(given), NOW)).toBe(text));

test('where the limit is a level, a forecast says which', () => {
  const at = { full_at: inDays(4), full_earliest: inDays(3), full_latest: inDays(5) };
  const orders = { ...DISK, unit: 'count' as const, warning: 10, critical: 100, limit: 100 };
  expect(forecastText(orders, forecast(at), NOW)).toBe('Critical in about 4 days (3 to 5)');
  const last = { ...orders, critical: null, limit: 10 };
  expect(forecastText(last, forecast({ ...at, full_at: inDays(0) }), NOW)).toBe('Warning within a day');
});
