import { Rejection } from '../../platform/rejection.ts';
import type { OnceWindow, RecurringWindow } from './maintenance-window.ts';
import { TIME_OF_DAY } from './quiet-hours.ts';
import { requireTimeZone } from './time-zone.ts';

const MINUTE = 60_000;
const LONGEST_ONCE_DAYS = 30;
const LONGEST_RECURRING_MINUTES = 7 * 1_440;
const FARTHEST_YEARS = 1;

/** The time of a window, as it is stored. Throws a {@link Rejection} with the sentence for what is wrong. */
export function requireTime<Time extends OnceWindow | RecurringWindow>(time: Time, now: Date): Time {
  return { ...time, ...(time.weekdays === null ? requireOnce(time, now) : requireRecurring(time)) };
}

function requireOnce({ starts_at, ends_at }: OnceWindow, now: Date) {
  if (ends_at <= starts_at && starts_at > now)
    throw wrong('ends_at', 'The window must end after it starts. Give a later end.');
  if (ends_at <= now)
    throw wrong(
      'ends_at',
      `The window is in the past: it ended at ${ends_at.toISOString().slice(0, 16).replace('T', ' ')} UTC. Give a later end.`,
    );
  if (ends_at.getTime() - starts_at.getTime() > LONGEST_ONCE_DAYS * 1_440 * MINUTE)
    throw wrong(
      'ends_at',
      `A maintenance window lasts at most ${LONGEST_ONCE_DAYS} days. To stop watching, remove the connection or disable its rules.`,
    );
  if (starts_at.getTime() > new Date(now).setUTCFullYear(now.getUTCFullYear() + FARTHEST_YEARS))
    throw wrong('starts_at', 'The window must start within a year.');
  return { starts_at, ends_at };
}

function requireRecurring({ weekdays, start_time, time_zone, minutes }: RecurringWindow) {
  const days = [...new Set(weekdays)].sort();
  if (days.length === 0 || days.some((day) => !Number.isInteger(day) || day < 1 || day > 7))
    throw wrong('weekdays', 'Choose at least one weekday: 1 (Monday) to 7 (Sunday).');
  if (!new RegExp(TIME_OF_DAY).test(start_time))
    throw wrong('start_time', 'Enter the start as hours and minutes, such as 02:00.');
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > LONGEST_RECURRING_MINUTES)
    throw wrong('minutes', 'A recurring window lasts between 1 minute and 7 days.');
  if (minutes >= longestPause(days))
    throw wrong(
      'minutes',
      'This window would never end, because each occurrence lasts until the next. Make it shorter, or choose fewer weekdays.',
    );
  return { weekdays: days, start_time, time_zone: requireTimeZone(time_zone), minutes };
}

/** The most minutes from one start to the next. */
function longestPause(days: readonly number[]): number {
  return Math.max(...days.map((day, place) => ((days[place + 1] ?? (days[0] ?? 0) + 7) - day) * 1_440));
}

function wrong(parameter: string, message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter });
}
