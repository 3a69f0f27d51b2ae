import type { ConnectionScope } from '../connection-scope.ts';

/** A window that happens once. */
export interface OnceWindow {
  starts_at: Date;
  ends_at: Date;
  weekdays: null;
}

/** A window that begins on some weekdays, at a time of day in a time zone. */
export interface RecurringWindow {
  starts_at: null;
  /** 1 = Monday … 7 = Sunday, in order. */
  weekdays: readonly number[];
  /** `HH:MM`. */
  start_time: string;
  time_zone: string;
  minutes: number;
}

/** When connections are in maintenance: once, or recurring. */
export type MaintenanceWindow = ConnectionScope & (OnceWindow | RecurringWindow);
