/** A time from a client, in nanoseconds since 1970, and the length of the smallest unit that it was given in. */
export interface PointOfTime {
  start: bigint;
  unit: bigint;
}

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;

// A blank counts as the offset's "+", because URL decoding turns "+" into a blank.
/** The format of a time; fractions of seconds have 1 to 9 digits. */
export const DATE_FORM =
  /^(\d{4})-(\d\d)-(\d\d)(?:T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(Z|[+\- ](?:0\d|1[0-4]):[0-5]\d)?)?$/;

/** Reads `YYYY-MM-DD` or an RFC 3339 date-time (UTC without an offset); null = the text is neither, or the day does not exist. */
export function parseDate(text: string): PointOfTime | null {
  const parts = DATE_FORM.exec(text);
  if (!parts) return null;
  const [, year, month, day, hour, minute, second, fraction = '', offset = 'Z'] = parts;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (Number(year) === 0 || date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day))
    return null;
  const midnight = BigInt(date.getTime()) * 1_000_000n;
  if (hour === undefined) return { start: midnight, unit: DAY };
  const east = offset === 'Z' ? 0 : minutesEast(offset);
  if (Math.abs(east) > 14 * 60) return null;
  const seconds = BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(second) - east * 60);
  return {
    start: midnight + seconds * SECOND + BigInt(fraction.padEnd(9, '0')),
    unit: 10n ** BigInt(9 - fraction.length),
  };
}

function minutesEast(offset: string): number {
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6));
  return offset.startsWith('-') ? -minutes : minutes;
}

/** A time range for PostgreSQL, in microseconds: from `since` (inclusive) to `before` (exclusive). */
export interface DateRange {
  since: string | null;
  before: string | null;
}

/**
 * Returns the range from `first` to `last`, which includes the whole unit that it is given in, such as the day. Null = `first` is
 * later than the last instant of `last`.
 */
export function dateRange(first: PointOfTime | undefined, last: PointOfTime | undefined): DateRange | null {
  if (first && last && first.start >= last.start + last.unit) return null;
  return {
    since: first ? toTimestamp(first.start) : null,
    before: last ? toTimestamp(last.start + last.unit) : null,
  };
}

// No rows exist outside the years 1 to 9999. An offset or the end of the last day can lead there.
const EARLIEST = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1000n;
const LATEST = BigInt(Date.parse('9999-12-31T23:59:59Z')) * 1000n;

function toTimestamp(nanoseconds: bigint): string {
  // Rounded up to whole microseconds, like the rows: this does not change which rows are at or after the bound.
  const up = nanoseconds >= 0n ? (nanoseconds + 999n) / 1000n : nanoseconds / 1000n;
  const bounded = up < EARLIEST ? EARLIEST : up > LATEST ? LATEST : up;
  const micros = ((bounded % 1000n) + 1000n) % 1000n;
  const millis = new Date(Number((bounded - micros) / 1000n)).toISOString();
  return `${millis.slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}
