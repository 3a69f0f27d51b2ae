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

/** A time range for PostgreSQL: from `since` (inclusive) to `before` (exclusive). */
export interface DateRange {
  since: string | null;
  before: string | null;
}

const MICROSECOND = 1_000n;
const MILLISECOND = 1_000_000n;

/**
 * Returns the range from `first` to `last`, which includes the whole unit that it is given in, such as the day. Null if `first` is
 * later than the last instant of `last`.
 *
 * A row is in the range if the time that it is shown with is: in whole milliseconds, or `shownTo` the microsecond. So bounds
 * are rounded up to what is shown. A row at 43.899123 is shown with 43.899, and is found from 43.899, 43.899000 and up to each of
 * them.
 */
export function dateRange(
  first: PointOfTime | undefined,
  last: PointOfTime | undefined,
  shownTo: 'millisecond' | 'microsecond' = 'millisecond',
): DateRange | null {
  if (first && last && first.start >= last.start + last.unit) return null;
  const unit = shownTo === 'millisecond' ? MILLISECOND : MICROSECOND;
  return {
    since: first ? toTimestamp(roundUp(first.start, unit)) : null,
    before: last ? toTimestamp(roundUp(last.start + last.unit, unit)) : null,
  };
}

/** The millisecond of a bound, in milliseconds since 1970. A time in the middle of one is rounded up, as in {@link dateRange}. */
export function toMilliseconds(nanoseconds: bigint): number {
  return Number(roundUp(nanoseconds, MILLISECOND) / MILLISECOND);
}

function roundUp(nanoseconds: bigint, unit: bigint): bigint {
  const rest = ((nanoseconds % unit) + unit) % unit;
  return rest === 0n ? nanoseconds : nanoseconds - rest + unit;
}

// No rows exist outside the years 1 to 9999. An offset or the end of the last day can lead there.
const EARLIEST = BigInt(Date.parse('0001-01-01T00:00:00Z')) * MILLISECOND;
const LATEST = BigInt(Date.parse('9999-12-31T23:59:59Z')) * MILLISECOND;

/** Writes whole microseconds in PostgreSQL's format. */
function toTimestamp(nanoseconds: bigint): string {
  const bounded = nanoseconds < EARLIEST ? EARLIEST : nanoseconds > LATEST ? LATEST : nanoseconds;
  const rest = ((bounded % MILLISECOND) + MILLISECOND) % MILLISECOND;
  const millis = new Date(Number((bounded - rest) / MILLISECOND)).toISOString();
  return `${millis.slice(0, -1)}${String(rest / MICROSECOND).padStart(3, '0')}Z`;
}
