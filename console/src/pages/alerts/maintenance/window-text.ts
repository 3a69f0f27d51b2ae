import type { Maintenance, NewMaintenance } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { duration, local } from '../../../parts/time.tsx';
import type { WindowDraft } from './window-draft.ts';

/** From Monday. */
export const WEEKDAYS = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
] as const;

const DAY_MINUTES = 1_440;

type Time = Pick<Maintenance, 'starts_at' | 'ends_at' | 'weekdays' | 'start_time' | 'time_zone' | 'minutes'>;

/** `Every Sunday 02:00–04:00 Europe/Berlin`, or `21 Nov 2026, 18:20 – 21 Nov 2026, 20:20`. */
export function windowTime(time: Time): string {
  const { starts_at, ends_at, weekdays, start_time, time_zone, minutes } = time;
  if (weekdays === null)
    return `${starts_at === null ? 'now' : local(starts_at)} – ${ends_at === null ? 'no end' : local(ends_at)}`;
  const start = start_time ?? '';
  const span = (minutes ?? 0) < DAY_MINUTES ? `${start}–${timeAfter(start, minutes ?? 0)}` : start;
  const lasts = (minutes ?? 0) < DAY_MINUTES ? '' : ` for ${duration((minutes ?? 0) * 60)}`;
  return `Every ${daysText(weekdays)} ${span} ${time_zone ?? ''}${lasts}`;
}

/** The sentence of a form; null while something is missing. */
export function draftSentence(window: NewMaintenance): string | null {
  const { starts_at = null, ends_at, weekdays, start_time, time_zone, minutes } = window;
  if (weekdays === undefined) {
    if (ends_at === undefined) return null;
    const none = { weekdays: null, start_time: null, time_zone: null, minutes: null };
    return `Once: ${windowTime({ starts_at, ends_at, ...none })}.`;
  }
  if (weekdays.length === 0 || !start_time || !time_zone || minutes === undefined) return null;
  return `${windowTime({ starts_at: null, ends_at: null, weekdays, start_time, time_zone, minutes })}.`;
}

/** What a form still needs for its sentence. A window that happens once may begin now. */
export function missingText({ repeats }: Pick<WindowDraft, 'repeats'>): string {
  return repeats === 'once'
    ? 'Enter an end. Without a start, the window begins now.'
    : 'Choose a day, and enter a time, a time zone and a duration.';
}

function daysText(days: readonly number[]): string {
  if (days.length === 7) return 'day';
  if (days.join() === '1,2,3,4,5') return 'weekday';
  const names = days.map((day) => WEEKDAYS[day - 1] ?? '');
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function timeAfter(start: string, minutes: number): string {
  const [hour = 0, minute = 0] = start.split(':').map(Number);
  const total = (hour * 60 + minute + minutes) % DAY_MINUTES;
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(total / 60))}:${two(total % 60)}`;
}
