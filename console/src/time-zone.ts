import { storedChoice } from './stored-choice.ts';

export type TimeZone = 'local' | 'utc';

const MINUTE_MS = 60_000;

const choice = storedChoice<TimeZone>('dbvitals-time-zone', ['local', 'utc']);

export const { start: startTimeZone, set: setTimeZone, useChoice: useTimeZone } = choice;

/** Whether times are shown, and typed, in UTC. */
export function isUtc(): boolean {
  return choice.get() === 'utc';
}

/** The IANA name of the chosen time zone. */
export function zoneName(): string {
  return isUtc() ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The chosen time zone in a sentence: “In your time zone.” */
export function zoneWords(): string {
  return isUtc() ? 'UTC' : 'your time zone';
}

/** Formats instants, or milliseconds since 1970, in the chosen time zone. */
export function formatter(options: Intl.DateTimeFormatOptions): (at: Date | number) => string {
  const formats = {
    local: new Intl.DateTimeFormat('en-GB', options),
    utc: new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }),
  };
  return (at) => formats[choice.get()].format(at);
}

/** `2026-11-22T08:30` in the chosen time zone, as a date-time field wants it. `at` in milliseconds if it is a number. */
export function fieldValue(at: Date | number): string {
  const date = new Date(at);
  return new Date(isUtc() ? date : date.getTime() - offsetOf(date)).toISOString().slice(0, 16);
}

/** `2026-11-22`, the day in the chosen time zone. `at` in milliseconds if it is a number. */
export function fieldDay(at: Date | number): string {
  return fieldValue(at).slice(0, 10);
}

/** The instant that the value of a date-time field means; an invalid Date if it is empty. */
export function fieldInstant(value: string): Date {
  return new Date(isUtc() ? `${value}Z` : value);
}

/** A Date whose local fields are those of the chosen time zone, from which uPlot takes the ticks of an axis. `at` in seconds. */
export function axisDate(at: number): Date {
  const date = new Date(at * 1_000);
  if (!isUtc()) return date;
  // The offset of the shifted date counts: the local clock may change in between.
  const shifted = new Date(date.getTime() + offsetOf(date));
  return new Date(date.getTime() + offsetOf(shifted));
}

/** UTC minus local time, in milliseconds. */
function offsetOf(date: Date): number {
  return date.getTimezoneOffset() * MINUTE_MS;
}
