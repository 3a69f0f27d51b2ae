/** The weekdays as commands and files name them, from Monday. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type Weekday = (typeof WEEKDAYS)[number];

/** 1 = Monday … 7 = Sunday. */
export function weekdayNumber(day: Weekday): number {
  return WEEKDAYS.indexOf(day) + 1;
}

/** Such as `mon, sun`. */
export function weekdaysText(numbers: readonly number[]): string {
  return numbers.map((number) => WEEKDAYS[number - 1]).join(', ');
}
