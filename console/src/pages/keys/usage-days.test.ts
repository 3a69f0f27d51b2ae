import { expect, test } from 'vitest';
import { totalOf, usageByEndpoint, usageDays } from './usage-days.ts';

const data = [
  { day: '2026-02-02', endpoint: '/health/fleet', status: 200, requests: 5 },
  { day: '2026-03-01', endpoint: '/health/fleet', status: 304, requests: 2 },
  { day: '2026-03-03', endpoint: '/health/fleet', status: 429, requests: 3 },
  { day: '2026-03-03', endpoint: '/ops/stats', status: 200, requests: 20 },
  { day: '2026-03-03', endpoint: null, status: 404, requests: 1 },
];

test('the chart has 30 days up to today, over the end of a month, also those without requests', () => {
  const days = usageDays(data, '2026-03-03', undefined);
  expect(days).toHaveLength(30);
  expect(days[0]).toEqual({ day: '2026-02-02', answered: 5, refused: 0, limited: 0 });
  expect(days.at(-1)).toEqual({ day: '2026-03-03', answered: 20, refused: 1, limited: 3 });
  expect(days.map(totalOf).filter((total) => total > 0)).toEqual([5, 2, 24]);
});

test('one endpoint, and the paths that are none', () => {
  expect(usageDays(data, '2026-03-03', '/health/fleet').map(totalOf).at(-1)).toBe(3);
  expect(usageDays(data, '2026-03-03', null).map(totalOf).at(-1)).toBe(1);
});

test('the table has the most used endpoint first, and each status once', () => {
  const { statuses, rows } = usageByEndpoint(data);
  expect(statuses).toEqual([200, 304, 404, 429]);
  expect(rows.map(({ endpoint, total }) => [endpoint, total])).toEqual([
    ['/ops/stats', 20],
    ['/health/fleet', 10],
    [null, 1],
  ]);
  expect(rows[1]?.byStatus.get(304)).toBe(2);
});
