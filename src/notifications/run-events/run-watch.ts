import type pg from 'pg';
import { one } from '../../store/one.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import type { AlertWatch, PulseFigures } from '../alerts/evaluation/run-facts.ts';
import { alertWatchColumns } from '../alerts/evaluation/watch-columns.ts';
import type { ConnectionScope } from '../connection-scope.ts';
import type { EventConnection } from '../event.ts';
import { isInMaintenance } from '../maintenance/active-windows.ts';
import type { MaintenanceWindow, RecurringWindow } from '../maintenance/maintenance-window.ts';
import type { Audience } from '../outbox/queue-events.ts';
import { wantingDestinations } from '../outbox/wanting-destination.ts';

/** What watches a run of a connection: rules, standing alerts, destinations and maintenance windows. */
export interface RunWatch extends Audience, AlertWatch {
  connection: EventConnection;
  /** Whether the connection is in a maintenance window now. */
  isInMaintenance: boolean;
}

const selectWatch = `
  select $3::timestamptz as at, a.plan,
         jsonb_build_object('id', c.connection_id, 'name', c.name, 'host', c.host, 'port', c.port,
                            'connection_type', c.connection_type, 'tags', ${tagsOfConnection}) as connection,
         ${wantingDestinations} as destinations,
         ${alertWatchColumns},
         coalesce((select jsonb_agg(jsonb_build_object('connection_ids', m.connection_ids, 'connection_names', m.connection_names,
                            'starts_at', m.starts_at, 'ends_at', m.ends_at, 'weekdays', m.weekdays,
                            'start_time', to_char(m.start_time, 'HH24:MI'), 'time_zone', m.time_zone, 'minutes', m.minutes))
                     from maintenance m
                    where m.account_id = $1 and m.removed_at is null and (m.ends_at is null or m.ends_at > $3)), '[]') as windows
    from account a
    join connection c using (account_id)
   where a.account_id = $1 and c.connection_id = $2`;

/**
 * Reads what watches a run, in its transaction. `figures` is what the pulses saw that asked for it; without them those of the last
 * minute count, unless the run before is later. This is the only statement that notifications cost an unchanged run.
 */
export async function readRunWatch(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  figures: PulseFigures | null = null,
): Promise<RunWatch> {
  const values = [accountId, connectionId, at];
  // Named, so that each connection plans it once: that takes longer than to run it, and the account's log is locked.
  const { rows } = await client.query<SelectedWatch>({ name: 'run watch', text: selectWatch, values });
  const { windows, ...watch } = one(rows, 'read what watches a run');
  const minute = watch.pulse;
  const before = watch.previous_run_at === null ? 0 : Date.parse(watch.previous_run_at);
  const isNews = minute !== null && Date.parse(minute.ended_at) > before;
  const pulse = figures ?? (isNews ? minute : null);
  return {
    ...watch,
    pulse,
    isInMaintenance: isInMaintenance(windows.map(windowOf), watch.connection, watch.at),
  };
}

type SelectedWatch = Omit<RunWatch, 'isInMaintenance' | 'pulse'> & {
  pulse: (PulseFigures & { ended_at: string }) | null;
  windows: (SelectedWindow & ConnectionScope)[];
};

/** A window in JSON, where times are texts. */
type SelectedWindow = RecurringWindow | { starts_at: string; ends_at: string; weekdays: null };

function windowOf(window: SelectedWindow & ConnectionScope): MaintenanceWindow {
  if (window.starts_at === null) return window;
  return { ...window, starts_at: new Date(window.starts_at), ends_at: new Date(window.ends_at) };
}
