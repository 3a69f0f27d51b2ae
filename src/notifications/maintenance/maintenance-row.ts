import type pg from 'pg';
import { notFound } from '../../platform/rejection.ts';
import { occurrenceAt } from './active-windows.ts';
import type { MaintenanceWindow } from './maintenance-window.ts';

/** Whether a window stops notifications now, will do so, or won't any more. */
const MAINTENANCE_STATES = ['active', 'coming', 'past'] as const;

export type MaintenanceState = (typeof MAINTENANCE_STATES)[number];

/** A maintenance window as the commands and the console show it. */
export interface MaintenanceRow {
  id: number;
  name: string;
  state: MaintenanceState;
  /** A connection is included that is in `ids` or whose name matches one of `names`; both null = every connection. */
  connections: { ids: number[] | null; names: string[] | null };
  /** When it happens: now, next, or when it last did. Null for a recurring window that was removed. */
  starts_at: Date | null;
  ends_at: Date | null;
  /** Null = once, as are the next three fields. */
  weekdays: number[] | null;
  start_time: string | null;
  time_zone: string | null;
  minutes: number | null;
  created_by: string;
  created_at: Date;
}

/** A row of the table. */
export interface StoredMaintenance {
  id: number;
  name: string;
  connection_ids: number[] | null;
  connection_names: string[] | null;
  starts_at: Date | null;
  ends_at: Date | null;
  weekdays: number[] | null;
  start_time: string | null;
  time_zone: string | null;
  minutes: number | null;
  created_by: string;
  created_at: Date;
  removed_at: Date | null;
}

/** The columns of a {@link StoredMaintenance}. */
export const maintenanceColumns = `
  maintenance_id as id, name, connection_ids, connection_names, starts_at, ends_at, weekdays,
  to_char(start_time, 'HH24:MI') as start_time, time_zone, minutes, created_by, created_at, removed_at`;

function windowOf(row: StoredMaintenance): MaintenanceWindow {
  const { connection_ids, connection_names, starts_at, ends_at, weekdays, start_time, time_zone, minutes } =
    row;
  const scope = { connection_ids, connection_names };
  if (starts_at !== null && ends_at !== null) return { ...scope, starts_at, ends_at, weekdays: null };
  if (weekdays === null || start_time === null || time_zone === null || minutes === null)
    throw new Error('A maintenance window is neither once nor recurring.');
  return { ...scope, starts_at: null, weekdays, start_time, time_zone, minutes };
}

/** A row as it is shown at `now`. */
export function maintenanceRow(row: StoredMaintenance, now: Date): MaintenanceRow {
  const { id, name, connection_ids: ids, connection_names: names, created_by, created_at } = row;
  const { weekdays, start_time, time_zone, minutes } = row;
  const occurrence = row.removed_at === null ? occurrenceAt(windowOf(row), now) : null;
  const { starts_at, ends_at } = occurrence ?? row;
  return {
    id,
    name,
    state: stateOf(occurrence, now),
    connections: { ids, names },
    starts_at,
    ends_at,
    weekdays,
    start_time,
    time_zone,
    minutes,
    created_by,
    created_at,
  };
}

function stateOf(occurrence: { starts_at: Date } | null, now: Date): MaintenanceState {
  if (occurrence === null) return 'past';
  return occurrence.starts_at <= now ? 'active' : 'coming';
}

const ownerOf = 'select account_id from maintenance where maintenance_id = $1';

/** The account of a window. Throws `notFound`. */
export async function accountOfMaintenance(writer: pg.Pool, id: number): Promise<number> {
  const [row] = (await writer.query<{ account_id: number }>(ownerOf, [id])).rows;
  if (!row) throw notFound('active or coming maintenance window', id, ': see "maintenance list".');
  return row.account_id;
}

/** The console page that log entries about maintenance windows link to. */
export const maintenancePage = '/alerts';

/** The details of a window in a log entry. */
export function propertiesOf({ id, name, connections, ...row }: MaintenanceRow) {
  const { starts_at, ends_at, weekdays, start_time, time_zone, minutes } = row;
  const when = weekdays === null ? { starts_at, ends_at } : { weekdays, start_time, time_zone, minutes };
  return { maintenance_id: id, name, connections, ...when };
}
