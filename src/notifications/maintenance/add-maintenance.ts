import type { ChangeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { within } from '../../store/read.ts';
import type { ConnectionScope } from '../connection-scope.ts';
import { requireConnections } from '../require-connections.ts';
import {
  type MaintenanceRow,
  maintenanceColumns,
  maintenancePage,
  maintenanceRow,
  propertiesOf,
  type StoredMaintenance,
} from './maintenance-row.ts';
import type { OnceWindow, RecurringWindow } from './maintenance-window.ts';
import { requireTime } from './require-window.ts';

/** The most windows of an account that are not past. */
const MOST_WINDOWS = 100;
/** The most names and tags in them altogether: the fleet and each round of alerts compare them with every connection. */
const MOST_NAMES = 1_000;

/** A window to add. A start that is null is now. */
export type WantedMaintenance = { name: string } & ConnectionScope &
  ((Omit<OnceWindow, 'starts_at'> & { starts_at: Date | null }) | RecurringWindow);

const countCurrent = `
  select count(*)::integer as windows, coalesce(sum(cardinality(connection_names)), 0)::integer as names
    from maintenance
   where account_id = $1 and removed_at is null and (ends_at is null or ends_at > $2)`;

const insert = `
  insert into maintenance (account_id, name, connection_ids, connection_names, starts_at, ends_at, weekdays, start_time,
                           time_zone, minutes, created_by, created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  returning ${maintenanceColumns}`;

/**
 * Adds a maintenance window: its connections are checked as ever, but their alerts and tickets send nothing while it lasts.
 * Throws a {@link Rejection} for a window that is past, never ends, or has a name that no connection matches, unless it may
 * match none.
 */
export function addMaintenance(
  change: ChangeAccount,
  wanted: WantedMaintenance,
  actor: Record<string, unknown> = {},
  scope: { mayMatchNone?: boolean } = {},
): Promise<MaintenanceRow> {
  return change(async ({ accountId, client, at, author, record }) => {
    const now = new Date(at);
    const { connection_ids, connection_names } = wanted;
    const time =
      wanted.weekdays === null
        ? requireTime({ ...wanted, starts_at: wanted.starts_at ?? now }, now)
        : requireTime(wanted, now);
    await requireConnections(within(client), accountId, wanted, scope);
    const { windows, names } = one(
      (await client.query(countCurrent, [accountId, at])).rows,
      'count the windows',
    );
    if (windows >= MOST_WINDOWS)
      throw new Rejection(
        'conflict',
        `An account has at most ${MOST_WINDOWS} maintenance windows that are not past. Remove one first.`,
      );
    if (names + (connection_names?.length ?? 0) > MOST_NAMES)
      throw new Rejection(
        'conflict',
        `The maintenance windows of an account that are not past have at most ${MOST_NAMES} names and tags altogether. Use fewer, with * for any text, or remove a window first.`,
      );
    const { rows } = await client.query<StoredMaintenance>(insert, [
      accountId,
      wanted.name,
      connection_ids,
      connection_names,
      ...(time.weekdays === null
        ? [time.starts_at, time.ends_at, null, null, null, null]
        : [null, null, time.weekdays, time.start_time, time.time_zone, time.minutes]),
      author,
      at,
    ]);
    const added = maintenanceRow(one(rows, 'store a maintenance window'), now);
    record('maintenance_added', maintenancePage, { ...propertiesOf(added), ...actor });
    return added;
  });
}
