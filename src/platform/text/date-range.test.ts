import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dateRange, type PointOfTime, parseDate } from './date-range.ts';

describe('parseDate', () => {
  test.each([
    '2026-02-30',
    '2026-13-01',
    '2025-02-29',
    '0000-01-01',
    '10000-01-01',
    '2026-1-1',
    '20260101',
    '2026-01-01T',
    '2026-01-01t00:00:00Z',
    '2026-01-01T00:00:00z',
    '2026-01-01 00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00+14:01',
    '2026-01-01T00:00:00+15:00',
    '2026-01-01T00:00:00+0100',
    '2026-01-01Z',
    'yesterday',
    '',
  ])('refuses %j', (text) => {
    expect(parseDate(text)).toBeNull();
  });

  test('reads every instant that toISOString writes', () => {
    const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        expect(parseDate(date.toISOString())?.start).toBe(BigInt(date.getTime()) * 1_000_000n);
      }),
    );
  });
});

const rangeOf = (from?: string, to?: string) =>
  dateRange(from === undefined ? undefined : pointOf(from), to === undefined ? undefined : pointOf(to));

function pointOf(text: string): PointOfTime {
  const point = parseDate(text);
  if (!point) throw new Error(`${text} is no point of time`);
  return point;
}

describe('dateRange', () => {
  test.each([
    // from, to: since and before
    ['2026-01-31', '2026-01-31', '2026-01-31T00:00:00.000000Z', '2026-02-01T00:00:00.000000Z'],
    ['2024-02-29T12:00:00', undefined, '2024-02-29T12:00:00.000000Z', null],
    [undefined, '2026-01-01T10:00:00Z', null, '2026-01-01T10:00:01.000000Z'],
    [undefined, '2026-01-01T10:00:00.5Z', null, '2026-01-01T10:00:00.600000Z'],
    [undefined, '2026-01-01T10:00:00.123Z', null, '2026-01-01T10:00:00.124000Z'],
    [undefined, '2026-01-01T10:00:00.123456Z', null, '2026-01-01T10:00:00.124000Z'],
    ['2026-01-01T10:00:00.1234561Z', undefined, '2026-01-01T10:00:00.124000Z', null],
    [undefined, '2026-01-01T10:00:00.1234561Z', null, '2026-01-01T10:00:00.124000Z'],
    // What is shown with 43.899 is at 43.899, however many digits a bound has.
    [
      '2026-01-01T10:00:43.899Z',
      '2026-01-01T10:00:43.899Z',
      '2026-01-01T10:00:43.899000Z',
      '2026-01-01T10:00:43.900000Z',
    ],
    [
      '2026-01-01T10:00:43.899000Z',
      '2026-01-01T10:00:43.899000Z',
      '2026-01-01T10:00:43.899000Z',
      '2026-01-01T10:00:43.900000Z',
    ],
    [
      '2026-01-01T10:00:43.899000000Z',
      '2026-01-01T10:00:43.899000000Z',
      '2026-01-01T10:00:43.899000Z',
      '2026-01-01T10:00:43.900000Z',
    ],
    [
      '2026-01-01T10:00:43.8995Z',
      '2026-01-01T10:00:43.8995Z',
      '2026-01-01T10:00:43.900000Z',
      '2026-01-01T10:00:43.900000Z',
    ],
    [undefined, '2026-01-01T10:00:43.898999Z', null, '2026-01-01T10:00:43.899000Z'],
    [undefined, '2026-01-01T10:00:43.898999999Z', null, '2026-01-01T10:00:43.899000Z'],
    ['2026-01-01T10:00:43.898000001Z', undefined, '2026-01-01T10:00:43.899000Z', null],
    ['2026-01-01T02:00:00+02:00', undefined, '2026-01-01T00:00:00.000000Z', null],
    ['2026-01-01T02:00:00 02:00', undefined, '2026-01-01T00:00:00.000000Z', null],
    ['2025-12-31T10:00:00-14:00', undefined, '2026-01-01T00:00:00.000000Z', null],
    ['1969-12-31T23:59:59.999999Z', undefined, '1970-01-01T00:00:00.000000Z', null],
    ['1969-12-31T23:59:59.998001Z', undefined, '1969-12-31T23:59:59.999000Z', null],
    ['0001-01-01T00:00:00+14:00', '9999-12-31', '0001-01-01T00:00:00.000000Z', '9999-12-31T23:59:59.000000Z'],
  ])('%s to %s', (from, to, since, before) => {
    expect(rangeOf(from, to)).toEqual({ since, before });
  });

  test('an end before the start is not a range; the same unit is one', () => {
    expect(rangeOf('2026-01-02', '2026-01-01')).toBeNull();
    expect(rangeOf('2026-01-01T23:59:59.999999999Z', '2026-01-01')).not.toBeNull();
    expect(rangeOf('2026-01-02T00:00:00Z', '2026-01-01')).toBeNull();
  });

  test('every row is in exactly one of two adjoining ranges, by the time that it is shown with', () => {
    const micros = fc.integer({ min: -3_000, max: 3_000 });
    const digits = fc.integer({ min: 3, max: 9 });
    const text = (nanoseconds: bigint, length: number) => {
      const second = nanoseconds < 0n ? '1969-12-31T23:59:59' : '1970-01-01T00:00:00';
      const fraction = String((nanoseconds + 1_000_000_000n) % 1_000_000_000n).padStart(9, '0');
      return `${second}.${fraction.slice(0, length)}Z`;
    };
    fc.assert(
      fc.property(micros, micros, digits, (row, bound, length) => {
        const unit = 10n ** BigInt(9 - length);
        const last = (BigInt(bound * 1_000) / unit) * unit;
        const [upTo, from] = [rangeOf(undefined, text(last, length)), rangeOf(text(last + unit, length))];
        const at = new Date(Math.floor(row / 1_000)).toISOString().slice(0, -1);
        const instant = `${at}${String(((row % 1_000) + 1_000) % 1_000).padStart(3, '0')}Z`;
        const isBefore = upTo?.before != null && instant < upTo.before;
        const isAfter = from?.since != null && instant >= from.since;
        expect(isBefore).toBe(!isAfter);
        const shown = BigInt(Math.floor(row / 1_000)) * 1_000_000n;
        expect(isBefore).toBe(shown < last + unit);
      }),
    );
  });

  test('an export shows microseconds, and compares with them', () => {
    const [from, to] = [pointOf('2026-01-01T10:00:00.123456Z'), pointOf('2026-01-01T10:00:00.1234561Z')];
    expect(dateRange(from, to, 'microsecond')).toEqual({
      since: '2026-01-01T10:00:00.123456Z',
      before: '2026-01-01T10:00:00.123457Z',
    });
  });
});
