import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import type { EventConnection, NewEvent } from '../event.ts';
import { queueEvents } from '../outbox/queue-events.ts';
import { RESOLUTIONS, type StandingAlert } from './alert-row.ts';
import { compares, type WatchedRule } from './alert-rule.ts';
import { endAlert } from './evaluate-rules.ts';
import { standingColumns } from './evaluation/watch-columns.ts';
import { type AlertEntry, storeAlerts } from './store-alerts.ts';

/** A standing alert with its rule and connection. */
export interface AlertInPlace {
  alert: StandingAlert;
  rule: Pick<WatchedRule, 'id' | 'destination_ids'> & { metric: WatchedRule['metric'] };
  connection: EventConnection;
}

/** The rule as an event needs it, of `alert_rule r`, and the connection, of `connection c`. */
const placeColumns = `
  jsonb_build_object('id', r.rule_id, 'metric', r.metric, 'destination_ids', r.destination_ids) as rule,
  jsonb_build_object('id', c.connection_id, 'name', c.name, 'host', c.host, 'port', c.port,
                     'connection_type', c.connection_type, 'tags', ${tagsOfConnection}) as connection`;

const selectStanding = `
  select to_jsonb(a) as alert, ${placeColumns}
    from (select account_id, connection_id, ${standingColumns}
            from alert
           where account_id = $1 and state <> 'resolved'
             and ($2::bigint is null or connection_id = $2) and ($3::bigint is null or rule_id = $3)) a
    join alert_rule r using (account_id, rule_id)
    join connection c using (account_id, connection_id)
   order by a.alert_id`;

/** The account, the time of the change (`Change.at`), and whose alerts. */
interface EndScope {
  accountId: number;
  at: string;
  connectionId?: number;
  ruleId?: number;
}

/**
 * Resolves the standing alerts of a connection or a rule for a reason that is not good news, inside a change of the
 * account. `reasonOf` returns null for an alert that stays. Returns the events to queue and the entries to record.
 */
async function resolveAlertsOf(
  client: pg.ClientBase,
  { accountId, at, connectionId, ruleId }: EndScope,
  reasonOf: (alert: AlertInPlace) => string | null,
): Promise<{ events: NewEvent[]; entries: AlertEntry[] }> {
  const { rows } = await client.query<AlertInPlace>(selectStanding, [accountId, connectionId, ruleId]);
  const steps = rows.flatMap((row) => {
    const reason = reasonOf(row);
    return reason === null ? [] : [endAlert(row.alert, reason, { connectionId: row.connection.id, at })];
  });
  const context = {
    accountId,
    rule: (id: number) => rows.find(({ rule }) => rule.id === id)?.rule,
    connection: (id: number) => rows.find(({ connection }) => connection.id === id)?.connection,
  };
  return storeAlerts(client, context, steps);
}

/** {@link resolveAlertsOf}, which also queues the events and records the entries. */
export async function endAlertsWithin(
  { accountId, at, client, record }: Change,
  of: { connectionId?: number; ruleId?: number },
  reasonOf: (alert: AlertInPlace) => string | null,
): Promise<void> {
  const { events, entries } = await resolveAlertsOf(client, { accountId, at, ...of }, reasonOf);
  for (const entry of entries) record(entry.actionType, entry.pagePath, entry.properties);
  await queueEvents(client, { accountId, at }, events);
}

/** Resolves all alerts of a connection that is being removed. */
export function endAlertsOfRemoved(change: Change, connectionId: number): Promise<void> {
  return endAlertsWithin(change, { connectionId }, () => RESOLUTIONS.connectionRemoved);
}

/**
 * Resolves the alerts of a connection that hold only because of what is being silenced. Where that is not sure, the next
 * run decides.
 */
export function endSilencedAlerts(
  change: Change,
  connectionId: number,
  silence: { check_id: string; object: string | null },
): Promise<void> {
  return endAlertsWithin(change, { connectionId }, (place) =>
    isOnlyFrom(place, silence) ? RESOLUTIONS.silenced : null,
  );
}

function isOnlyFrom(
  { alert, rule }: AlertInPlace,
  { check_id, object }: { check_id: string; object: string | null },
) {
  const { details, operator, threshold } = alert;
  if (details.counts) {
    const count = details.counts[check_id] ?? 0;
    const total = Object.values(details.counts).reduce((sum, one) => sum + one, 0);
    if (count === 0) return false;
    const isKnown = object === null || (count === 1 && details.object === object);
    return isKnown && !compares(total - (object === null ? count : 1), operator, threshold);
  }
  const isOfCheck = rule.metric === 'measure' || rule.metric === 'unreachable_seconds';
  return isOfCheck && details.check_id === check_id && object === null;
}
