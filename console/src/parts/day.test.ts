import { expect, test } from 'vitest';
import { boxedDay, dayOrInstant, rangeEnd, rangeStart } from './day.ts';

test('a day spans the viewer’s local day, from its first to its last instant', () => {
  const start = new Date(rangeStart('2026-01-31') ?? '');
  const end = new Date(rangeEnd('2026-01-31') ?? '');
  expect([start.getDate(), start.getHours(), start.getMilliseconds()]).toEqual([31, 0, 0]);
  expect([end.getDate(), end.getHours(), end.getMilliseconds()]).toEqual([31, 23, 999]);
});

test('an instant is kept unchanged, and its day is shown', () => {
  const at = new Date(2026, 0, 31, 12).toISOString(); // wherever this runs
  expect([rangeStart(at), rangeEnd(at)]).toEqual([at, at]);
  expect(boxedDay(at)).toBe('2026-01-31');
  expect([rangeStart(undefined), rangeEnd(undefined), boxedDay(undefined)]).toEqual([
    undefined,
    undefined,
    '',
  ]);
});

test('only a day or an instant is accepted from a URL', () => {
  expect(dayOrInstant('2026-01-31')).toBe('2026-01-31');
  expect(dayOrInstant('2026-01-31T12:00:00.123456Z')).toBe('2026-01-31T12:00:00.123456Z');
  for (const text of ['', 'yesterday', '5', '2026-13-01', '2026-01-31x'])
    expect(dayOrInstant(text)).toBeUndefined();
});
