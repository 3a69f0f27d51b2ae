import { afterEach, expect, test } from 'vitest';
import {
  axisDate,
  fieldDay,
  fieldInstant,
  fieldValue,
  formatter,
  setTimeZone,
  zoneName,
  zoneWords,
} from './time-zone.ts';

// The browser's tests have a time zone other than UTC: test/browser/time-zone.test.ts.

afterEach(() => setTimeZone('local'));

const AT = new Date('2026-11-22T23:30:00Z');

test('in UTC, fields hold UTC', () => {
  setTimeZone('utc');
  expect(fieldValue(AT)).toBe('2026-11-22T23:30');
  expect(fieldDay(AT.getTime())).toBe('2026-11-22');
  expect(fieldInstant('2026-11-22T23:30')).toEqual(AT);
  expect(formatter({ timeStyle: 'short' })(AT)).toBe('23:30');
  expect([zoneName(), zoneWords()]).toEqual(['UTC', 'UTC']);
});

test.each(['local', 'utc'] as const)('%s: a field gives back the instant that it was filled with', (zone) => {
  setTimeZone(zone);
  for (const month of ['01', '03', '07', '10', '12']) {
    const at = new Date(`2026-${month}-29T00:59:00Z`);
    expect(fieldInstant(fieldValue(at))).toEqual(at);
  }
  expect(fieldInstant('').getTime()).toBeNaN();
});

test.each(['local', 'utc'] as const)('%s: the fields of an axis are those of the time zone', (zone) => {
  setTimeZone(zone);
  const date = axisDate(AT.getTime() / 1_000);
  const two = (figure: number) => String(figure).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  expect(`${day}T${two(date.getHours())}:${two(date.getMinutes())}`).toBe(fieldValue(AT));
});

test('in UTC, the hours of an axis are right around changes of the local clock', () => {
  setTimeZone('utc');
  for (let at = Date.UTC(2026, 0); at < Date.UTC(2027, 0); at += 3_600_000) {
    const utc = new Date(at);
    const fields = [utc.getUTCFullYear(), utc.getUTCMonth(), utc.getUTCDate(), utc.getUTCHours()] as const;
    const isSkipped = new Date(...fields).getHours() !== utc.getUTCHours();
    if (!isSkipped) expect(axisDate(at / 1_000).getHours(), utc.toISOString()).toBe(utc.getUTCHours());
  }
});
