import { parseDate, toMilliseconds } from '../platform/text/date-range.ts';
import { secondsOf } from '../platform/text/duration.ts';
import { UsageError } from './usage-error.ts';

const LONGEST_TEXT = 200;
const LONGEST_AGO_S = 1_000 * 365 * 86_400;

/** Parser of an id: a whole number from 1. Errors of these parsers never show the input, because it may be a secret. */
export function idOf(option: string): (text: string) => number {
  return countOf(option, 1, Number.MAX_SAFE_INTEGER);
}

/** Parser of a whole number from `least` to `most`. */
export function countOf(option: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^(0|[1-9][0-9]{0,15})$/.test(text) && count >= least && count <= most) return count;
    throw new UsageError(
      most === Number.MAX_SAFE_INTEGER
        ? `${option} must be a whole number, ${least} or more.`
        : `${option} must be a whole number from ${least} to ${most}.`,
    );
  };
}

/** Parser of a number. */
export function numberOf(option: string): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== '' && Number.isFinite(number)) return number;
    throw new UsageError(`${option} must be a number.`);
  };
}

/** Parser of free text: trimmed, 1 to 200 characters, no control characters. */
export function textOf(option: string): (text: string) => string {
  return (text) => {
    const trimmed = text.trim();
    if (trimmed.length >= 1 && trimmed.length <= LONGEST_TEXT && !/\p{Cc}/u.test(trimmed)) return trimmed;
    throw new UsageError(
      `${option} must be 1 to ${LONGEST_TEXT} characters long, without control characters.`,
    );
  };
}

/** Parser of an e-mail address. Checks only its shape. */
export function emailOf(option: string): (text: string) => string {
  return (text) => {
    const email = textOf(option)(text);
    if (/^[^\s@]+@[^\s@]+$/.test(email)) return email;
    throw new UsageError(`${option} must be an e-mail address, such as ada@example.com.`);
  };
}

/** Parser of a dbvitals service's address: the part before `/api/v1`. */
export function serviceUrlOf(option: string): (text: string) => string {
  return (text) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname) return url.href;
    throw new UsageError(
      `${option} must be only the address of the service, such as http://127.0.0.1:8080; the key is read from DBVITALS_API_KEY.`,
    );
  };
}

/** Parser of an address to listen on: host and port, such as `[::1]:9187`, or `:9187` for all addresses. */
export function listenOf(option: string): (text: string) => { host: string; port: number } {
  return (text) => {
    const [, six, name, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z.-]*)):([0-9]{1,5})$/.exec(text) ?? [];
    if (port !== undefined && Number(port) <= 65_535)
      return { host: six ?? (name || '::'), port: Number(port) };
    throw new UsageError(`${option} must be a host and a port, such as 127.0.0.1:9187.`);
  };
}

/** Parser of an enumerated value. */
export function oneOf<Word extends string>(option: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((known) => known === text);
    if (word !== undefined) return word;
    throw new UsageError(`${option} must be one of ${words.join(', ')}.`);
  };
}

/** Parser of a repeatable option with enumerated values. Returns the values without duplicates. */
export function someOf<Word extends string>(
  option: string,
  words: readonly Word[],
): (text: string, before: Word[] | undefined) => Word[] {
  const parse = oneOf(option, words);
  return (text, before = []) => [...new Set([...before, parse(text)])];
}

/** Parser of a duration: a whole number and s, m, h or d. Returns seconds; `least` and `most` are durations too. */
export function durationOf(option: string, least: string, most: string): (text: string) => number {
  return (text) => {
    const seconds = secondsOf(text);
    if (seconds !== undefined && seconds >= (secondsOf(least) ?? 0) && seconds <= (secondsOf(most) ?? 0))
      return seconds;
    throw new UsageError(
      `${option} must be a duration from ${least} to ${most}: a whole number and s, m, h or d, such as 90s or 7d.`,
    );
  };
}

/** Parses how often a connection is pulsed: `off`, or a duration from 1s to 60s. Returns seconds; 0 = off. */
export function parsePulse(text: string): number {
  if (text === 'off') return 0;
  const seconds = secondsOf(text);
  if (seconds !== undefined && seconds >= 1 && seconds <= 60) return seconds;
  throw new UsageError('The pulse must be off, or a duration from 1s to 60s, such as 10s.');
}

/** Parses within which time a backup is expected: `off`, or a duration from 1h to 365d. Returns seconds; 0 = off. */
export function parseBackupExpected(text: string): number {
  if (text === 'off') return 0;
  const seconds = secondsOf(text);
  if (seconds !== undefined && seconds >= 3_600 && seconds <= 365 * 86_400) return seconds;
  throw new UsageError('The expected backup must be off, or a duration from 1h to 365d, such as 26h.');
}

/**
 * Parser of an instant: an RFC 3339 date-time (no offset means UTC), a date (its start or end, UTC), or how long ago it was,
 * such as 7d.
 */
export function timeOf(option: string, of: 'start' | 'end', now = new Date()): (text: string) => Date {
  return (text) => {
    const seconds = secondsOf(text);
    const written = parseDate(text);
    if (seconds !== undefined && seconds <= LONGEST_AGO_S) return new Date(now.getTime() - seconds * 1_000);
    if (written !== null) return new Date(toMilliseconds(written.start + (of === 'end' ? written.unit : 0n)));
    throw new UsageError(
      `${option} must be a date such as 2030-01-31, a date-time such as 2030-01-31T18:00:00Z, or a duration ago such as 7d.`,
    );
  };
}
