import { listOpenAlerts } from '../../notifications/alerts/list-alerts.ts';
import type { ScopedConnection } from '../../notifications/connection-scope.ts';
import { addMaintenance, type WantedMaintenance } from '../../notifications/maintenance/add-maintenance.ts';
import { endMaintenance } from '../../notifications/maintenance/end-maintenance.ts';
import { listMaintenance } from '../../notifications/maintenance/list-maintenance.ts';
import type { MaintenanceRow } from '../../notifications/maintenance/maintenance-row.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { Maintenance, MaintenanceList, NewMaintenance } from './alert-schemas.ts';
import { activeWindows, isInWindow } from './shown-alerts.ts';

const list = consoleRoute({
  method: 'GET',
  path: '/maintenance',
  permission: 'health:read',
  response: MaintenanceList,
  async handler({ actor: { accountId }, read }) {
    return { items: (await read((run) => listMaintenance(run, accountId))).map(shown) };
  },
});

const add = consoleRoute({
  method: 'POST',
  path: '/maintenance',
  permission: 'connections:write',
  body: NewMaintenance,
  response: Maintenance,
  status: 201,
  async handler({ body, change }) {
    return shown(await addMaintenance(change, wantedOf(body)));
  },
});

const end = consoleRoute({
  method: 'DELETE',
  path: '/maintenance/:id',
  permission: 'connections:write',
  response: null,
  async handler({ change, id }) {
    await endMaintenance(change, id);
  },
});

/** What watches a connection now. */
export const ConnectionWatch = Type.Object({
  /** The gravest first. */
  alerts: Type.Array(
    Type.Object({
      id: identifier('an open alert'),
      rule_name: Type.String(),
      severity: stringEnum(...SEVERITIES),
    }),
  ),
  /** The active maintenance window that ends last. */
  maintenance: Type.Union([
    Type.Null(),
    Type.Object({ name: Type.String(), ends_at: nullable(timestamp('its end')) }),
  ]),
});

export type ConnectionWatch = Static<typeof ConnectionWatch>;

const selectName = `
  select c.connection_id as id, c.name, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null`;

const getWatch = consoleRoute({
  method: 'GET',
  path: '/connections/:id/watch',
  permission: 'health:read',
  response: ConnectionWatch,
  async handler({ actor: { accountId }, id, read }) {
    return read(async (run) => {
      const [[connection], alerts, windows] = await Promise.all([
        run<ScopedConnection>(selectName, [accountId, id]),
        listOpenAlerts(run, accountId, id),
        activeWindows(run, accountId),
      ]);
      if (!connection) throw notFound();
      const own = windows.filter((window) => isInWindow(window, connection)).map(shown);
      const [last] = own.toSorted((a, b) => Date.parse(b.ends_at ?? '') - Date.parse(a.ends_at ?? ''));
      return {
        alerts: alerts.map(({ id: alert, rule_name, severity }) => ({ id: alert, rule_name, severity })),
        maintenance: last ? { name: last.name, ends_at: last.ends_at } : null,
      };
    });
  },
});

/** The routes of maintenance windows, and of what watches a connection. */
export const maintenanceRoutes: ConsoleRoute[] = [list, add, end, getWatch];

function wantedOf({ name, connections, ...time }: NewMaintenance): WantedMaintenance {
  const common = { name: name.trim(), connection_ids: connections.ids, connection_names: connections.names };
  const { starts_at, ends_at, weekdays, start_time, time_zone, minutes } = time;
  if (weekdays === undefined) {
    return {
      ...common,
      weekdays: null,
      starts_at: starts_at === undefined ? null : instant('starts_at', starts_at),
      ends_at: instant('ends_at', ends_at),
    };
  }
  if (start_time === undefined) throw missing('start_time', 'Enter the start, such as 02:00.');
  if (time_zone === undefined) throw missing('time_zone', 'Enter a time zone, such as Europe/Berlin.');
  if (minutes === undefined) throw missing('minutes', 'Enter how long it lasts, in minutes.');
  return { ...common, starts_at: null, weekdays, start_time, time_zone, minutes };
}

function instant(field: string, text: string | undefined): Date {
  const at = new Date(text ?? '');
  if (Number.isNaN(at.getTime())) throw missing(field, 'Enter a date and a time.');
  return at;
}

function missing(parameter: string, message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter });
}

function shown({ starts_at, ends_at, created_at, ...row }: MaintenanceRow): Maintenance {
  return {
    ...row,
    starts_at: starts_at?.toISOString() ?? null,
    ends_at: ends_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  };
}
