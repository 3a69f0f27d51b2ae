import { Rejection } from '../../platform/rejection.ts';
import { parseDate } from '../../platform/text/date-range.ts';
import { secondsOf } from '../../platform/text/duration.ts';

const LONGEST_YEARS = 10;

/**
 * Parser of a future instant: a date (the end of that day, UTC), an RFC 3339 date-time (no offset means UTC), or a
 * duration from now, such as 7d. The instant is at most ten years ahead.
 */
export function untilOf(option: string, now = new Date()): (text: string) => Date {
  return (text) => {
    const seconds = secondsOf(text);
    const until = seconds === undefined ? instantOf(text) : new Date(now.getTime() + seconds * 1_000);
    const most = new Date(now).setUTCFullYear(now.getUTCFullYear() + LONGEST_YEARS);
    if (until && until > now && until.getTime() <= most) return until;
    throw new Rejection(
      'invalid_parameter',
      `${option} must be in the future, at most ${LONGEST_YEARS} years from now: a date such as 2030-01-31, a date-time such as 2030-01-31T18:00:00Z, or a duration such as 7d.`,
      { parameter: 'until' },
    );
  };
}

/** The instant of a date (the end of that day, UTC) or an RFC 3339 date-time; null for any other text. */
export function instantOf(text: string): Date | null {
  const written = parseDate(text);
  if (written === null) return null;
  return new Date(Number((written.start + (text.includes('T') ? 0n : written.unit)) / 1_000_000n));
}
