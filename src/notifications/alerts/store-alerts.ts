import type pg from 'pg';
import type { EventConnection, NewEvent } from '../event.ts';
import { type AlertEntry, alertEntry, alertEvent, type EventRule, type StoredAlert } from './alert-events.ts';
import type { AlertStep } from './evaluation/advance-alert.ts';

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
