import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DIGEST_DAYS } from '../../vocabulary/event-kinds.ts';
import { wallTimeOf } from '../maintenance/time-zone.ts';
import { type DigestSchedule, nextDigest, previousDigest, requireDigestSchedule } from './digest-schedule.ts';

const schedule = (every: DigestSchedule['every'], at: string, time_zone = 'Europe/Berlin') => ({
  every,
  at,
  time_zone,
});
const next = (of: DigestSchedule, after: string) => nextDigest(of, new Date(after)).toISOString();

test('a weekly digest comes on its day at its time of the zone, in summer and in winter', () => {
  const monday = schedule('mon', '07:00');
  expect(next(monday, '2026-11-28T12:00:00Z')).toBe('2026-11-30T06:00:00.000Z');
  expect(next(monday, '2026-11-30T05:59:59Z')).toBe('2026-11-30T06:00:00.000Z');
  expect(next(monday, '2026-11-30T06:00:00Z')).toBe('2026-12-07T06:00:00.000Z');
  expect(next(monday, '2026-07-06T12:00:00Z')).toBe('2026-07-13T05:00:00.000Z');
  expect(next(schedule('sun', '00:00', 'Pacific/Auckland'), '2026-11-28T10:00:00Z')).toBe(
    '2026-11-28T11:00:00.000Z',
  );
  expect(previousDigest(monday, new Date('2026-11-30T06:00:00Z')).toISOString()).toBe(
    '2026-11-23T06:00:00.000Z',
  );
});

test('a time that clocks skip is when they are put forward, and one that they show twice comes once', () => {
  const daily = schedule('day', '02:30');
  expect(next(daily, '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
  expect(next(daily, '2026-03-29T01:00:00Z')).toBe('2026-03-30T00:30:00.000Z');
  // 02:30 is at 00:30 and at 01:30 UTC.
  expect(next(daily, '2026-10-24T12:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
  expect(next(daily, '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30:00.000Z');
  expect(next(daily, '2026-10-25T01:00:00Z')).toBe('2026-10-26T01:30:00.000Z');
});

test('in any zone a year of digests has one for each day, or one for each week', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/Santiago',
  ];
  const times = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
  const two = (number: number) => String(number).padStart(2, '0');
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.constantFrom(...DIGEST_DAYS),
      times,
      (time_zone, every, [h, m]) => {
        const of = { every, at: `${two(h)}:${two(m)}`, time_zone };
        const days = new Set<string>();
        let at = new Date('2026-01-01T00:00:00Z');
        let count = 0;
        for (let due = nextDigest(of, at); due.getTime() < Date.parse('2027-01-01T00:00:00Z'); count += 1) {
          expect(previousDigest(of, nextDigest(of, due))).toEqual(due);
          days.add(new Date(wallTimeOf(time_zone, due.getTime())).toISOString().slice(0, 10));
          at = due;
          due = nextDigest(of, at);
        }
        expect(days.size).toBe(count);
        expect(Math.abs(count - (every === 'day' ? 365 : 52.2))).toBeLessThanOrEqual(1.2);
      },
    ),
    { numRuns: 12 },
  );
});

test('a schedule needs a day, a time and a zone that there are', () => {
  expect(requireDigestSchedule(schedule('mon', '07:00', 'europe/berlin'))).toEqual(schedule('mon', '07:00'));
  expect(() => requireDigestSchedule(schedule('mon', '24:00'))).toThrow('Enter a digest as');
  expect(() => requireDigestSchedule(schedule('month' as 'mon', '07:00'))).toThrow('Enter a digest as');
  expect(() => requireDigestSchedule(schedule('mon', '07:00', 'Mars/Base'))).toThrow('no such time zone');
});
