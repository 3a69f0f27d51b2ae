import { rangeParameters, readRange } from '../http/range-parameters.ts';
import { Rejection } from '../platform/rejection.ts';
import type { Static, TObject } from '../platform/schema/schema.ts';

const DAY_MS = 86_400_000;
/** 13 months. */
export const HISTORY_DAYS = 400;

/** `from` and `to` of a history: dates or RFC 3339 date-times. */
export const historyRange = rangeParameters;

/**
 * Returns the range of validated parameters: by default the `days` before `to`, and up to now. Throws a 400 if it is empty or
 * longer than 13 months.
 */
export function readHistoryRange(
  query: Static<TObject<typeof historyRange>>,
  days: number,
): { from: Date; to: Date } {
  const { since, before } = readRange(query);
  const to = before === null ? new Date() : new Date(before);
  const from = since === null ? new Date(to.getTime() - days * DAY_MS) : new Date(since);
  if (from >= to) throw invalid('from must be earlier than to, which is now if you leave it out.');
  if (to.getTime() - from.getTime() > HISTORY_DAYS * DAY_MS) {
    throw invalid(`Choose a range of at most 13 months (${HISTORY_DAYS} days).`);
  }
  return { from, to };
}

/** The end of a time's millisecond: the store's times have microseconds. */
export function endOf(time: Date): Date {
  return new Date(time.getTime() + 1);
}

function invalid(message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter: 'from' });
}
