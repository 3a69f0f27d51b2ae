import { expect, test } from 'vitest';
import { isInMaintenance, occurrenceAt } from './active-windows.ts';
import type { MaintenanceWindow } from './maintenance-window.ts';

const all = { connection_ids: null, connection_names: null };
const shop = { id: 7, name: 'shop-db', tags: ['env:production', 'team:shop'] };
const once = {
  ...all,
  starts_at: new Date('2026-05-01T10:00:00Z'),
  ends_at: new Date('2026-05-01T12:00:00Z'),
  weekdays: null,
} satisfies MaintenanceWindow;
const sundays = {
  ...all,
  starts_at: null,
  weekdays: [7],
  start_time: '02:00',
  time_zone: 'Europe/Berlin',
  minutes: 120,
} satisfies MaintenanceWindow;

const isIn = (window: MaintenanceWindow, at: string) => isInMaintenance([window], shop, new Date(at));
const shown = (window: MaintenanceWindow, at: string) => {
  const found = occurrenceAt(window, new Date(at));
  return found && [found.starts_at, found.ends_at].map((date) => date.toISOString().slice(0, 16));
};

test('a window that happens once includes its start and not its end', () => {
  expect(isIn(once, '2026-05-01T09:59:59.999Z')).toBe(false);
  expect(isIn(once, '2026-05-01T10:00:00Z')).toBe(true);
  expect(isIn(once, '2026-05-01T11:59:59.999Z')).toBe(true);
  expect(isIn(once, '2026-05-01T12:00:00Z')).toBe(false);
  expect(shown(once, '2026-04-01T00:00:00Z')).toEqual(['2026-05-01T10:00', '2026-05-01T12:00']);
  expect(shown(once, '2026-05-01T12:00:00Z')).toBeNull();
});

test('a recurring window happens each week, in summer and in winter', () => {
  expect(isIn(sundays, '2026-01-11T01:00:00Z')).toBe(true);
  expect(isIn(sundays, '2026-01-11T02:59:59Z')).toBe(true);
  expect(isIn(sundays, '2026-01-11T03:00:00Z')).toBe(false);
  expect(isIn(sundays, '2026-01-12T01:00:00Z')).toBe(false);
  expect(isIn(sundays, '2026-07-12T00:00:00Z')).toBe(true);
  expect(shown(sundays, '2026-07-12T02:00:00Z')).toEqual(['2026-07-19T00:00', '2026-07-19T02:00']);
});

test('on the night of a clock change it lasts as long as ever', () => {
  // 02:00 is skipped: it begins at 03:00, which is the same moment.
  expect(shown(sundays, '2026-03-28T12:00:00Z')).toEqual(['2026-03-29T01:00', '2026-03-29T03:00']);
  // 02:00 comes twice: it begins at the first one.
  expect(shown(sundays, '2026-10-24T12:00:00Z')).toEqual(['2026-10-25T00:00', '2026-10-25T02:00']);
});

test('a window of several days reaches into the next week', () => {
  const longest = { ...sundays, weekdays: [1], start_time: '23:59', minutes: 10_080 };
  expect(isIn(longest, '2026-01-19T22:58:59Z')).toBe(true);
  expect(shown(longest, '2026-01-19T22:58:59Z')).toEqual(['2026-01-12T22:59', '2026-01-19T22:59']);
  expect(shown(longest, '2026-01-19T22:59:00Z')).toEqual(['2026-01-19T22:59', '2026-01-26T22:59']);
});

test.each([
  [{ connection_ids: [7], connection_names: null }, true],
  [{ connection_ids: [8], connection_names: null }, false],
  [{ connection_ids: null, connection_names: ['shop-*'] }, true],
  [{ connection_ids: null, connection_names: ['SHOP*DB'] }, true],
  [{ connection_ids: null, connection_names: ['shop', '*-api', 'shop-db*x'] }, false],
  [{ connection_ids: [8], connection_names: ['*db*'] }, true],
  [{ connection_ids: [], connection_names: [] }, false],
  [{ connection_ids: null, connection_names: ['tag:env:production'] }, true],
  [{ connection_ids: null, connection_names: ['TAG:Env:Production+team:shop'] }, true],
  [{ connection_ids: null, connection_names: ['tag:env:production+team:crm'] }, false],
  [{ connection_ids: null, connection_names: ['tag:env:test', 'tag:team:shop'] }, true],
  [{ connection_ids: null, connection_names: ['tag:shop-db'] }, false],
  [{ connection_ids: null, connection_names: ['tag:'] }, false],
  [{ connection_ids: null, connection_names: ['tag:*', 'tag:env:production+'] }, false],
  [{ connection_ids: null, connection_names: ['env:production'] }, false],
])('a window of %j includes shop-db: %s', (scope, included) => {
  expect(isIn({ ...once, ...scope }, '2026-05-01T11:00:00Z')).toBe(included);
});

test('a pattern with many stars takes little time', () => {
  const connection_names = [`${'*a'.repeat(100)}b`];
  const began = performance.now();
  isInMaintenance(
    [{ ...once, connection_names }],
    { id: 1, name: 'a'.repeat(200), tags: [] },
    once.starts_at,
  );
  expect(performance.now() - began).toBeLessThan(10_000);
});
