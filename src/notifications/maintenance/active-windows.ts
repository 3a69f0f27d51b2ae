import { type ConnectionScope, includesConnection, type ScopedConnection } from '../connection-scope.ts';
import type { MaintenanceWindow, RecurringWindow } from './maintenance-window.ts';
import { millisecondsOf } from './quiet-hours.ts';
import { instantOfWallTime, wallTimeOf } from './time-zone.ts';

const DAY = 86_400_000;
const WEEK = 7;

/** When a window happens, once. */
export interface Occurrence {
  starts_at: Date;
  ends_at: Date;
}

/** Whether a connection is in one of the maintenance windows. */
export function isInMaintenance(
  windows: readonly MaintenanceWindow[],
  connection: ScopedConnection,
  at: Date,
): boolean {
  return windows.some((window) => isInWindow(window, connection, at));
}

function isInWindow(
  window: MaintenanceWindow & ConnectionScope,
  connection: ScopedConnection,
  at: Date,
): boolean {
  return includesConnection(window, connection) && isActive(occurrenceAt(window, at), at);
}

function isActive(occurrence: Occurrence | null, at: Date): boolean {
  return occurrence !== null && occurrence.starts_at <= at;
}

/** The occurrence of a window at `at`, or else the next one; null when there is none any more. */
export function occurrenceAt(window: MaintenanceWindow, at: Date): Occurrence | null {
  if (window.weekdays === null) {
    const { starts_at, ends_at } = window;
    return ends_at > at ? { starts_at, ends_at } : null;
  }
  return recurringAt(window, at.getTime());
}

// Days are those of the window's time zone. An occurrence may have begun seven days ago, and a day that the zone skipped
// (Samoa, 2011) moves the next one by a day.
function recurringAt({ weekdays, start_time, time_zone, minutes }: RecurringWindow, at: number) {
  const wall = wallTimeOf(time_zone, at);
  const today = wall - (wall % DAY);
  for (let days = -WEEK - 1; days <= WEEK + 1; days++) {
    const day = today + days * DAY;
    if (!weekdays.includes(weekdayOf(day))) continue;
    const start = instantOfWallTime(time_zone, day + millisecondsOf(start_time), 'first');
    const end = start + minutes * 60_000;
    if (end > at) return { starts_at: new Date(start), ends_at: new Date(end) };
  }
  return null;
}

function weekdayOf(day: number): number {
  return new Date(day).getUTCDay() || WEEK;
}
