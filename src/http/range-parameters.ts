import { invalidParameter } from '../platform/rejection.ts';
import { type DateRange, dateRange, type PointOfTime } from '../platform/text/date-range.ts';
import { pointOfTime } from './query-parameters.ts';

/** An instant or a day. */
export function dateOrTime(name: string, meaning: string) {
  const forms =
    'A date (`2026-01-31`) or an RFC 3339 date-time (`2026-01-31T23:59:59Z`); without an offset it is UTC.';
  return pointOfTime(
    name,
    `${meaning} ${forms}`,
    'must be a date (2026-01-31) or an RFC 3339 date-time (2026-01-31T23:59:59Z).',
  );
}

/** `from` and `to`, both inclusive. `parseDate` defines the format `date-or-time`. */
export const rangeParameters = {
  from: dateOrTime(
    'from',
    'Start of the time range, inclusive. It compares with the time as it is shown, in milliseconds.',
  ),
  to: dateOrTime(
    'to',
    'End of the time range, including the last unit given: the whole day of a date, or the whole second. It compares with the time as it is shown, in milliseconds.',
  ),
};

/** Returns the range of validated parameters. Throws a 400 if it ends before it starts. */
export function readRange(query: { from?: PointOfTime; to?: PointOfTime }): DateRange {
  const range = dateRange(query.from, query.to);
  if (!range) throw invalidParameter('from', 'from must not be later than to.');
  return range;
}
