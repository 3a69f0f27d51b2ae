import type pg from 'pg';
import type { EntryProperties } from '../../activity/catalogue/catalogue.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { EventConnection, NewEvent } from '../event.ts';
import { type AlertDetails, RESOLUTIONS } from './alert-row.ts';
import type { WatchedRule } from './alert-rule.ts';
import type { AlertStep, NextAlert } from './evaluation/advance-alert.ts';

// One statement for all alerts that change. The account's log is locked, so nobody else changes them; the unique index
// alert_standing stands behind that.
const storeSteps = `
  with step as materialized (
    select * from jsonb_to_recordset($2::jsonb)
      as s (write text, connection_id bigint, alert_id bigint, rule_id bigint, state text, since timestamptz, runs integer,
            metric text, operator text, threshold float8, value float8, details jsonb, severity text,
            triggered_at timestamptz, announced_at timestamptz, reminded_at timestamptz, reopened_at timestamptz[],
            resolved_at timestamptz, resolution text)
  ), gone as (
    delete from alert a using step s
     where s.write = 'delete' and a.account_id = $1 and a.alert_id = s.alert_id and a.state = 'pending'
  ), changed as (
    update alert a
       set state = s.state, since = s.since, runs = s.runs, metric = s.metric, operator = s.operator,
           threshold = s.threshold, value = s.value, details = s.details, severity = s.severity,
           triggered_at = s.triggered_at, announced_at = s.announced_at, reminded_at = s.reminded_at,
           reopened_at = s.reopened_at, resolved_at = s.resolved_at, resolution = s.resolution
      from step s
     where s.write = 'update' and a.account_id = $1 and a.alert_id = s.alert_id and a.state <> 'resolved'
    returning a.alert_id, a.rule_id, a.connection_id
  ), added as (
    insert into alert (account_id, rule_id, connection_id, state, since, runs, metric, operator, threshold, value, details,
                       severity, triggered_at, announced_at, reopened_at)
    select $1, rule_id, connection_id, state, since, runs, metric, operator, threshold, value, details, severity,
           triggered_at, announced_at, coalesce(reopened_at, '{}')
      from step
     where write = 'insert'
     order by connection_id, rule_id
    on conflict do nothing
    returning alert_id, rule_id, connection_id
  )
  select * from changed union all select * from added`;

/** What a step needs besides itself. */
export interface StepContext {
  accountId: number;
  rule(id: number): EventRule | undefined;
  connection(id: number): EventConnection | undefined;
}

/**
 * Stores steps of alerts in one statement, inside a change of their account. Returns the events to queue and the entries
 * to record, in the order of the steps.
 */
export async function storeAlerts(
  client: pg.ClientBase,
  context: StepContext,
  steps: readonly AlertStep[],
): Promise<{ events: NewEvent[]; entries: AlertEntry[] }> {
  if (steps.length === 0) return { events: [], entries: [] };
  const rows = steps.map(({ write, connectionId, alert }) => ({
    ...alert,
    write,
    connection_id: connectionId,
  }));
  const { rows: stored } = await client.query<{ alert_id: number; rule_id: number; connection_id: number }>(
    storeSteps,
    [context.accountId, JSON.stringify(rows)],
  );
  const ids = new Map(stored.map((row) => [`${row.rule_id} ${row.connection_id}`, row.alert_id]));
  const events: NewEvent[] = [];
  const entries: AlertEntry[] = [];
  for (const { alert, connectionId, logged, announced, isReminder = false } of steps) {
    const alert_id = ids.get(`${alert.rule_id} ${connectionId}`);
    if (alert_id === undefined) continue;
    const after: StoredAlert = { ...alert, alert_id };
    if (logged) entries.push(alertEntry(logged, connectionId, after));
    const connection = context.connection(connectionId);
    if (announced && connection) {
      const rule = context.rule(alert.rule_id) ?? { destination_ids: null };
      events.push(alertEvent(announced, rule, connection, after, { isReminder }));
    }
  }
  return { events, entries };
}

/** An activity entry to record in the same transaction, for `Change.record`. */
export interface AlertEntry {
  actionType: 'alert_triggered' | 'alert_resolved';
  pagePath: string;
  properties: EntryProperties<AlertEntry['actionType']>;
}

/** A stored alert. */
type StoredAlert = NextAlert & { alert_id: number };

/** The log entry of an alert that opened or was resolved. */
function alertEntry(
  actionType: AlertEntry['actionType'],
  connectionId: number,
  alert: StoredAlert,
): AlertEntry {
  const { alert_id, rule_id, metric, operator, threshold, value, severity, details, resolution } = alert;
  const { rule_name, object } = details;
  return {
    actionType,
    pagePath: PAGE_LINKS.alert(alert_id),
    properties: {
      alert_id,
      rule_id,
      rule_name,
      connection_id: connectionId,
      severity,
      metric,
      operator,
      threshold,
      value,
      ...(object !== null && { object }),
      ...(actionType === 'alert_resolved' && { reason: resolution }),
    },
  };
}

/** What an event needs of an alert's rule. A removed rule has none. */
type EventRule = Pick<WatchedRule, 'destination_ids'>;

/** The event of an alert that opened or was resolved. A reminder goes only to the channels that people read. */
function alertEvent(
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
    kind,
    severity: alert.severity,
    connection,
    alertId: alert_id,
    destinationIds: destination_ids,
    data: {
      alert_id,
      connection: { id, name, host, port, connection_type },
      ...measured,
      triggered_at: instant(triggered_at),
      ...(resolved && { resolved_at: instant(resolved_at) }),
    },
    details: {
      connection,
      title: details.rule_name,
      check_id: details.check_id || null,
      database: details.database,
      object: details.object,
      metric_line: lineOf(alert),
      measured,
      since: instant(alert.since),
      remediation: details.remediation,
      resolution: resolved ? (alert.resolution ?? RESOLUTIONS.cleared) : null,
      page: PAGE_LINKS.alert(alert_id),
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
