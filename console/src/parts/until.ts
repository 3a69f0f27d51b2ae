import { fieldDay, fieldInstant, isUtc } from '../time-zone.ts';

const HOUR_MS = 3_600_000;
const MORNING = '09:00';

const UNTIL = [
  { id: '1h', label: 'For an hour' },
  { id: '4h', label: 'For 4 hours' },
  { id: 'morning', label: 'Until tomorrow, 9:00' },
  { id: 'monday', label: 'Until Monday, 9:00' },
  { id: 'resolved', label: 'Until it is resolved' },
  { id: 'at', label: 'Custom time' },
] as const;

export type Until = (typeof UNTIL)[number]['id'];

/** How long an alert can be acknowledged for, and a ticket snoozed. Times of day name UTC if it is the chosen time zone. */
export function untilChoices(): { id: Until; label: string }[] {
  const isTimeOfDay = (id: Until) => id === 'morning' || id === 'monday';
  return UNTIL.map(({ id, label }) => ({ id, label: isUtc() && isTimeOfDay(id) ? `${label} UTC` : label }));
}

/** The end of an acknowledgement as the service takes it; null = until it is resolved. `at` is the value of a date-time field. */
export function untilOf(until: Until, at: string, now = new Date()): string | null {
  switch (until) {
    case 'resolved':
      return null;
    case 'at':
      return written(fieldInstant(at));
    case 'morning':
      return written(morningIn(1, now));
    case 'monday':
      // On a Monday, the next one.
      return written(morningIn((8 - dayOf(now).getUTCDay()) % 7 || 7, now));
    default:
      return written(new Date(now.getTime() + (until === '1h' ? 1 : 4) * HOUR_MS));
  }
}

/** Midnight UTC of the day that it is in the chosen time zone. Days are counted in UTC, where each has 24 hours. */
function dayOf(now: Date): Date {
  return new Date(fieldDay(now));
}

/** Nine o'clock in some days, in the chosen time zone. */
function morningIn(days: number, now: Date): Date {
  const day = dayOf(now);
  day.setUTCDate(day.getUTCDate() + days);
  return fieldInstant(`${day.toISOString().slice(0, 10)}T${MORNING}`);
}

function written(date: Date): string {
  return date.toISOString().replace(/\.\d+/, '');
}
