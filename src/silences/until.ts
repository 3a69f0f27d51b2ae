import { secondsOf } from '../vocabulary/duration.ts';
import { Rejection } from '../vocabulary/rejection.ts';

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

const FORM =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?)(Z|[+-][0-9]{2}:[0-9]{2})?)?$/;
const DAY_MS = 86_400_000;

/** The instant of a date (the end of that day, UTC) or an RFC 3339 date-time; null for any other text. */
export function instantOf(text: string): Date | null {
  const [, day = '', time, offset = 'Z'] = FORM.exec(text) ?? [];
  const midnight = new Date(`${day}T00:00:00Z`);
  // Some parsers read 2026-02-30 as March 2, so the parsed date must match the text.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null;
  if (time === undefined) return new Date(midnight.getTime() + DAY_MS);
  const instant = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(instant.getTime()) ? null : instant;
}
