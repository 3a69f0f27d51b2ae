import { fieldDay, fieldInstant } from '../time-zone.ts';

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The `from` or `to` of a URL: a day such as 2026-01-31, or an instant; undefined for anything else. */
export function dayOrInstant(text: string | undefined): string | undefined {
  const isOne = text !== undefined && /^\d{4}-\d\d-\d\d(T|$)/.test(text) && !Number.isNaN(Date.parse(text));
  return isOne ? text : undefined;
}

/** The first instant of a day in the chosen time zone, for the API's `from`; an instant is returned unchanged. */
export function rangeStart(day: string | undefined): string | undefined {
  return day !== undefined && DAY.test(day) ? fieldInstant(`${day}T00:00:00`).toISOString() : day;
}

/** The last millisecond of a day in the chosen time zone, for the API's `to`; an instant is returned unchanged. */
export function rangeEnd(day: string | undefined): string | undefined {
  return day !== undefined && DAY.test(day) ? fieldInstant(`${day}T23:59:59.999`).toISOString() : day;
}

/** The day in the chosen time zone, as the value of a date field; '' for none. */
export function boxedDay(text: string | undefined): string {
  if (text === undefined || DAY.test(text)) return text ?? '';
  return fieldDay(new Date(text));
}
