import { expect, test } from 'vitest';
import { quietUntil, requireQuietHours } from './quiet-hours.ts';

const until = (from: string, to: string, at: string, time_zone = 'Europe/Berlin') =>
  quietUntil({ from, to, time_zone }, new Date(at))?.toISOString().slice(0, 16) ?? null;

test('quiet hours over midnight end on the next morning', () => {
  expect(until('22:00', '07:00', '2026-01-15T20:59:59Z')).toBeNull();
  expect(until('22:00', '07:00', '2026-01-15T21:00:00Z')).toBe('2026-01-16T06:00');
  expect(until('22:00', '07:00', '2026-01-15T23:30:00Z')).toBe('2026-01-16T06:00');
  expect(until('22:00', '07:00', '2026-01-16T05:59:59Z')).toBe('2026-01-16T06:00');
  expect(until('22:00', '07:00', '2026-01-16T06:00:00Z')).toBeNull();
});

test('quiet hours within a day end on that day', () => {
  expect(until('12:00', '13:30', '2026-01-15T11:15:00Z')).toBe('2026-01-15T12:30');
  expect(until('12:00', '13:30', '2026-01-15T23:15:00Z')).toBeNull();
  expect(until('00:00', '00:01', '2026-01-15T23:00:30Z')).toBe('2026-01-15T23:01');
});

test('the end follows summer time', () => {
  expect(until('22:00', '07:00', '2026-03-28T22:00:00Z')).toBe('2026-03-29T05:00');
  expect(until('22:00', '07:00', '2026-10-24T22:00:00Z')).toBe('2026-10-25T06:00');
});

test('an end that clocks skip is the moment when they are put forward', () => {
  expect(until('22:00', '02:30', '2026-03-29T00:30:00Z')).toBe('2026-03-29T01:00');
  expect(until('22:00', '02:30', '2026-03-29T01:00:00Z')).toBeNull();
  expect(until('02:15', '02:45', '2026-03-29T01:00:00Z')).toBeNull();
});

test('it is quiet both times that clocks show an hour twice', () => {
  expect(until('22:00', '02:30', '2026-10-25T00:10:00Z')).toBe('2026-10-25T01:30');
  expect(until('22:00', '02:30', '2026-10-25T01:10:00Z')).toBe('2026-10-25T01:30');
  expect(until('02:15', '02:45', '2026-10-25T01:20:00Z')).toBe('2026-10-25T01:45');
});

test('without quiet hours it is never quiet', () => {
  expect(quietUntil(null, new Date())).toBeNull();
});

test('quiet hours need a time zone and a span', () => {
  const hours = { from: '22:00', to: '07:00', time_zone: 'europe/berlin' };
  expect(requireQuietHours(hours)).toEqual({ ...hours, time_zone: 'Europe/Berlin' });
  expect(() => requireQuietHours({ ...hours, to: '22:00' })).toThrow('must end at another time');
  expect(() => requireQuietHours({ ...hours, time_zone: 'Mars/Base' })).toThrow('no such time zone');
});
