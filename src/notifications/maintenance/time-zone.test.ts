import { expect, test } from 'vitest';
import { instantOfWallTime, requireTimeZone, timeZoneNamed, wallTimeOf } from './time-zone.ts';

const wall = (text: string) => Date.parse(`${text}Z`);
const instant = (zone: string, text: string, which: 'first' | 'last') =>
  new Date(instantOfWallTime(zone, wall(text), which)).toISOString().slice(0, 16);

test.each([
  ['UTC', '2026-07-01T12:00', '2026-07-01T12:00'],
  ['Europe/Berlin', '2026-01-15T02:30', '2026-01-15T01:30'],
  ['Europe/Berlin', '2026-07-15T02:30', '2026-07-15T00:30'],
  ['Asia/Kathmandu', '2026-07-15T02:30', '2026-07-14T20:45'],
  ['Pacific/Kiritimati', '2026-01-01T00:00', '2025-12-31T10:00'],
  ['America/St_Johns', '2026-01-15T23:59', '2026-01-16T03:29'],
])('%s shows %s at %s', (zone, shown, at) => {
  expect([instant(zone, shown, 'first'), instant(zone, shown, 'last')]).toEqual([at, at]);
  expect(wallTimeOf(zone, wall(at))).toBe(wall(shown));
});

test('a time that is skipped is the moment when clocks are put forward', () => {
  for (const which of ['first', 'last'] as const) {
    expect(instant('Europe/Berlin', '2026-03-29T02:00', which)).toBe('2026-03-29T01:00');
    expect(instant('Europe/Berlin', '2026-03-29T02:59', which)).toBe('2026-03-29T01:00');
    expect(instant('Europe/Berlin', '2026-03-29T03:00', which)).toBe('2026-03-29T01:00');
    // Half an hour, and a whole day.
    expect(instant('Australia/Lord_Howe', '2026-10-04T02:15', which)).toBe('2026-10-03T15:30');
    expect(instant('Pacific/Apia', '2011-12-30T12:00', which)).toBe('2011-12-30T10:00');
  }
});

test('a time that is shown twice has a first and a last instant', () => {
  expect(instant('Europe/Berlin', '2026-10-25T02:30', 'first')).toBe('2026-10-25T00:30');
  expect(instant('Europe/Berlin', '2026-10-25T02:30', 'last')).toBe('2026-10-25T01:30');
  expect(instant('America/New_York', '2026-11-01T01:00', 'first')).toBe('2026-11-01T05:00');
  expect(instant('America/New_York', '2026-11-01T01:00', 'last')).toBe('2026-11-01T06:00');
});

test.each([
  ['europe/berlin', 'Europe/Berlin'],
  ['UTC', 'UTC'],
  ['utc', 'UTC'],
  ['America/Argentina/Buenos_Aires', /Buenos_Aires$/],
])('%s is the zone %s', (name, zone) => {
  expect(timeZoneNamed(name)).toMatch(zone);
});

test.each([
  ['Europe/Berlim', 'There is no such time zone. Did you mean Europe/Berlin?'],
  ['Berlin', 'There is no such time zone. Did you mean Europe/Berlin?'],
  ['+02:00', 'There is no such time zone. Use a name such as Europe/Berlin or UTC.'],
  ['x'.repeat(60), 'There is no such time zone. Use a name such as Europe/Berlin or UTC.'],
])('%j is no zone', (name, message) => {
  expect(() => requireTimeZone(name)).toThrow(message);
});
