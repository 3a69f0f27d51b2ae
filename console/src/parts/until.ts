const HOUR_MS = 3_600_000;
const MORNING = 9;

/** How long an alert can be acknowledged for, and a ticket snoozed. */
export const UNTIL = [
  { id: '1h', label: 'For an hour' },
  { id: '4h', label: 'For 4 hours' },
  { id: 'morning', label: 'Until tomorrow, 9:00' },
  { id: 'monday', label: 'Until Monday, 9:00' },
  { id: 'resolved', label: 'Until it is resolved' },
  { id: 'at', label: 'Custom time' },
] as const;

export type Until = (typeof UNTIL)[number]['id'];

/** The end of an acknowledgement as the service takes it; null = until it is resolved. `at` is a local date-time. */
export function untilOf(until: Until, at: string, now = new Date()): string | null {
  switch (until) {
    case 'resolved':
      return null;
    case 'at':
      return written(new Date(at));
    case 'morning':
      return written(morningIn(1, now));
    case 'monday':
      // On a Monday, the next one.
      return written(morningIn((8 - now.getDay()) % 7 || 7, now));
    default:
      return written(new Date(now.getTime() + (until === '1h' ? 1 : 4) * HOUR_MS));
  }
}

/** Nine o'clock in some days, in the viewer's time zone. */
function morningIn(days: number, now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING);
}

function written(date: Date): string {
  return date.toISOString().replace(/\.\d+/, '');
}
