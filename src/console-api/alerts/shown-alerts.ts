import { readTags } from '../../connections/tags/connection-tags.ts';
import type { AlertRow } from '../../notifications/alerts/alert-row.ts';
import { listOpenAlerts } from '../../notifications/alerts/list-alerts.ts';
import { includesConnection, type ScopedConnection } from '../../notifications/connection-scope.ts';
import { listMaintenance } from '../../notifications/maintenance/list-maintenance.ts';
import type { MaintenanceRow } from '../../notifications/maintenance/maintenance-row.ts';
import type { Read } from '../../store/read.ts';
import { unitOf } from '../../vocabulary/units.ts';
import type { Alert } from './alert-schemas.ts';

const selectRemoved = `
  select connection_id
    from connection
   where account_id = $1 and connection_id = any($2::bigint[]) and removed_at is not null`;

/** Alerts as members see them: with what holds back an open one, and whether the connection still exists. */
export async function shownAlerts(
  read: Read,
  accountId: number,
  rows: readonly AlertRow[],
): Promise<Alert[]> {
  const open = rows.filter(({ state }) => state === 'open');
  const ids = [...new Set(rows.map(({ connection_id }) => connection_id))];
  const [removed, windows, unreachable, tags] = await Promise.all([
    ids.length === 0 ? [] : read<{ connection_id: number }>(selectRemoved, [accountId, ids]),
    open.length === 0 ? [] : activeWindows(read, accountId),
    open.length === 0 ? [] : unreachableConnections(read, accountId, open),
    open.length === 0 ? null : readTags(read, accountId),
  ]);
  const gone = new Set(removed.map(({ connection_id }) => connection_id));
  return rows.map((row) => ({
    ...shownAlert(row, gone.has(row.connection_id)),
    held:
      row.state === 'open'
        ? heldBy(row, windows, { unreachable, tags: tags?.get(row.connection_id) ?? [] })
        : null,
  }));
}

/** The windows that are active now. */
export async function activeWindows(read: Read, accountId: number): Promise<MaintenanceRow[]> {
  return (await listMaintenance(read, accountId)).filter(({ state }) => state === 'active');
}

/** Whether a window includes a connection. */
export function isInWindow({ connections }: MaintenanceRow, connection: ScopedConnection): boolean {
  const { ids, names } = connections;
  return includesConnection({ connection_ids: ids, connection_names: names }, connection);
}

async function unreachableConnections(read: Read, accountId: number, open: readonly AlertRow[]) {
  const [first] = open;
  const rows = open.length === 1 && first ? await listOpenAlerts(read, accountId, first.connection_id) : open;
  return rows.filter(isUnreachable).map(({ connection_id }) => connection_id);
}

function isUnreachable({ rule_metric }: AlertRow): boolean {
  return rule_metric === 'unreachable_seconds';
}

function heldBy(
  row: AlertRow,
  windows: readonly MaintenanceRow[],
  { unreachable, tags }: { unreachable: readonly number[]; tags: readonly string[] },
): Alert['held'] {
  const connection = { id: row.connection_id, name: row.connection_name, tags };
  if (windows.some((window) => isInWindow(window, connection))) return 'maintenance';
  return !isUnreachable(row) && unreachable.includes(row.connection_id) ? 'unreachable' : null;
}

function shownAlert(row: AlertRow, connection_removed: boolean): Omit<Alert, 'held'> {
  const { id, state, severity, rule_id, rule_name, connection_id, connection_name, metric } = row;
  const { operator, threshold, value, details, resolution } = row;
  const { check_id, database, object, metric_line, worst } = details;
  return {
    id,
    state,
    severity,
    rule_id,
    rule_name,
    connection_id,
    connection_name,
    connection_removed,
    kind: row.rule_metric,
    metric,
    unit: unitOf(metric),
    operator,
    threshold,
    value,
    worst,
    check_id,
    database,
    object,
    metric_line,
    resolution,
    since: row.since.toISOString(),
    triggered_at: row.triggered_at.toISOString(),
    acknowledged:
      row.acknowledged_at === null
        ? null
        : {
            at: row.acknowledged_at.toISOString(),
            until: row.acknowledged_until?.toISOString() ?? null,
            by: row.acknowledged_by ?? '',
            note: row.acknowledged_note ?? '',
          },
    resolved_at: row.resolved_at?.toISOString() ?? null,
  };
}
