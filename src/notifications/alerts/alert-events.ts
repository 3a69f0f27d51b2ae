import type { ActionType } from '../../activity/record-entry.ts';
import type { EventConnection, NewEvent } from '../event.ts';
import { type AlertDetails, RESOLUTIONS } from './alert-row.ts';
import type { WatchedRule } from './alert-rule.ts';
import type { NextAlert } from './evaluation/advance-alert.ts';

/** An activity entry to record in the same transaction, for `Change.record`. */
export interface AlertEntry {
  actionType: Extract<ActionType, 'alert_triggered' | 'alert_resolved'>;
  pagePath: string;
  properties: Record<string, unknown>;
}

/** A stored alert. */
export type StoredAlert = NextAlert & { alert_id: number };

/** The console's page of an alert. */
export function alertPage(id: number): string {
  return `/alerts/${id}`;
}

/** The log entry of an alert that opened or was resolved. */
export function alertEntry(
  actionType: AlertEntry['actionType'],
  connectionId: number,
  alert: StoredAlert,
): AlertEntry {
  const { alert_id, rule_id, metric, operator, threshold, value, severity, details, resolution } = alert;
  const { rule_name, object } = details;
  return {
    actionType,
    pagePath: alertPage(alert_id),
    properties: {
      ...{
        alert_id,
        rule_id,
        rule_name,
        connection_id: connectionId,
        severity,
        metric,
        operator,
        threshold,
        value,
      },
      ...(object !== null && { object }),
      ...(actionType === 'alert_resolved' && { reason: resolution }),
    },
  };
}

/** What an event needs of an alert's rule. A removed rule has none. */
export type EventRule = Pick<WatchedRule, 'destination_ids'>;

/** The event of an alert that opened or was resolved. A reminder goes only to the channels that people read. */
export function alertEvent(
  kind: 'alert.triggered' | 'alert.resolved',
  { destination_ids }: EventRule,
  connection: EventConnection,
  alert: StoredAlert,
  how: { isReminder?: boolean } = {},
): NewEvent {
  const { alert_id, metric, operator, threshold, value, details, triggered_at, resolved_at } = alert;
  const resolved = kind === 'alert.resolved';
  const measured = { metric, operator, threshold, value };
  const { id, name, host, port, connection_type } = connection;
  return {
    ...{ kind, severity: alert.severity, connection },
    ...{ alertId: alert_id, destinationIds: destination_ids },
    data: {
      ...{
        alert_id,
        connection: { id, name, host, port, connection_type },
        ...measured,
        triggered_at: instant(triggered_at),
      },
      ...(resolved && { resolved_at: instant(resolved_at) }),
    },
    details: {
      ...{
        connection,
        title: details.rule_name,
        check_id: details.check_id || null,
        database: details.database,
      },
      ...{ object: details.object, metric_line: lineOf(alert), measured },
      ...{ since: instant(alert.since), remediation: details.remediation },
      resolution: resolved ? (alert.resolution ?? RESOLUTIONS.cleared) : null,
      page: alertPage(alert_id),
      ...(how.isReminder && { is_reminder: true as const }),
    },
  };
}

function lineOf({ value, details }: { value: number; details: AlertDetails }): string {
  const { metric_line, worst } = details;
  return worst === value ? metric_line : `${metric_line} (${worst} at worst, ${value} when it was triggered)`;
}

/** RFC 3339, as payloads have it. */
function instant(time: string | null): string {
  return (time === null ? new Date() : new Date(time)).toISOString();
}
