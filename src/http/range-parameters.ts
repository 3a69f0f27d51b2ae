import { Type } from 'typebox';
import { type DateRange, dateRange } from './date-range.ts';
import { ApiError } from './errors.ts';

const form = 'must be a date (2026-01-31) or an RFC 3339 date-time (2026-01-31T23:59:59Z).';

/** `from` and `to`, both inclusive; the format `date-or-time` is `parseDate`'s. */
export const rangeParameters = {
  from: Type.Optional(Type.String({ format: 'date-or-time', description: `from ${form}` })),
  to: Type.Optional(Type.String({ format: 'date-or-time', description: `to ${form}` })),
};

/** The range that the parameters, which have passed their schema, name. Throws 400 when it ends before it starts. */
export function readRange(query: { from?: string; to?: string }): DateRange {
  const range = dateRange(query.from, query.to);
  if (!range) throw new ApiError('invalid_parameter', 'from must not be later than to.', 'from');
  return range;
}
