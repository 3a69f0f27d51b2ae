import type { Pool } from 'pg';

const insertAlerts = `
  with rule as (
    insert into alert_rule (account_id, name, metric, operator, threshold, severity, created_at)
    select $1::bigint, 'Score of ' || $2::bigint, 'score', '<', 50, 'critical', now()
    returning rule_id
  ), alerts as (
    insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details, severity,
                       triggered_at, resolved_at, resolution)
    select $1::bigint, rule_id, $2::bigint, state, now() - interval '1 hour', 'score', '<', 50, $2::bigint % 50,
           jsonb_build_object('rule_name', 'Score', 'check_id', null, 'database', '', 'object', null,
                              'metric_line', 'the score is ' || $2::bigint % 50, 'remediation', null, 'worst', $2::bigint % 50),
           'critical', now() - interval '1 hour', case state when 'resolved' then now() end,
           case state when 'resolved' then 'the condition no longer holds' end
      from rule, unnest(array['resolved', 'open']) state
    returning alert_id, state
  ), destination as (
    insert into destination (account_id, name, channel, target, settings, kinds, state_since, created_at)
    values ($1::bigint, 'Pager of ' || $2::bigint, 'webhook', 'https://example.com', '{}', '{alert.triggered}', now(), now())
    returning destination_id
  ), queue as (
    insert into destination_queue (account_id, destination_id, epoch) select $1::bigint, destination_id, 'epoch' from destination
  ), event as (
    insert into event (account_id, event_id, kind, occurred_at, severity, connection_id, alert_id, body, details)
    select $1::bigint, 'evt_of_' || $2::bigint, 'alert.triggered', now(), 'critical', $2::bigint, alert_id, '{}', '{}' from alerts where state = 'open'
    returning event_id
  ), delivery as (
    insert into delivery (account_id, destination_id, event_id, epoch, sequence, state, queued_at, due_at, attempts, ended_at,
                          status, result, is_logged)
    select $1::bigint, destination_id, event_id, 'epoch', 1, 'accepted', now(), now(), 1, now(), 200, '200 OK', true
      from destination, event
  ), maintenance as (
    insert into maintenance (account_id, name, connection_ids, starts_at, ends_at, created_by, created_at)
    values ($1::bigint, 'Disks of ' || $2::bigint, array[$2::bigint + 1], now(), now() + interval '1 hour', 'Ada', now())
  )
  select alert_id from alerts where state = 'open'`;

/** Stores an open and a resolved alert of a connection, with a rule, a delivery and a window of another connection. */
export async function writeAlerts(
  writer: Pool,
  { accountId, connectionId }: { accountId: number; connectionId: number },
): Promise<number> {
  const { rows } = await writer.query<{ alert_id: number }>(insertAlerts, [accountId, connectionId]);
  return rows[0]?.alert_id ?? 0;
}
