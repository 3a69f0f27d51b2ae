import { readTicketEntries } from '../../activity/entries-of-ticket.ts';
import type { ConnectionThresholds } from '../../connections/connection-thresholds.ts';
import type { Override } from '../../connections/thresholds/effective-thresholds.ts';
import { overridesOfConnection } from '../../connections/thresholds/list-overrides.ts';
import { readTicketDeliveries } from '../../notifications/deliveries/deliveries-of-ticket.ts';
import { notFound } from '../../platform/rejection.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { readTicketSilences } from '../../tickets/silences/silences-of-ticket.ts';
import { activeSilence, ticketState } from '../../tickets/triage/ticket-state.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { TICKET_STATES } from '../../vocabulary/ticket-lists.ts';
import { explained, JudgedBy } from '../connections/findings.ts';
import { FaultMeasure } from '../measures/measure-schemas.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { runsOfTicket } from './runs-of-ticket.ts';
import { TicketStep, toTicketHistory } from './ticket-history.ts';

/** A ticket with its history. It contains untrusted text of the monitored server: render it as text. */
export const TicketDetail = Type.Object({
  id: identifier('ticket identifier'),
  connection_id: identifier('the connection'),
  connection_name: Type.String(),
  /** The connection was removed and has no page any more. */
  connection_removed: Type.Boolean(),
  check_id: Type.String(),
  category: Type.String(),
  title: Type.String(),
  /** '' for the whole server. */
  database: Type.String(),
  object: nullable(Type.String()),
  severity: stringEnum(...SEVERITIES),
  status: stringEnum('open', 'resolved'),
  metric_line: Type.String(),
  /** The number that it comes from; null if it comes from none, or if it is older than these numbers. */
  measured: nullable(FaultMeasure),
  thresholds: Type.Array(JudgedBy),
  why: Type.String(),
  sql: Type.String(),
  lock: nullable(Type.String()),
  first_seen_at: timestamp('when it was found first'),
  last_seen_at: timestamp('when it was found last'),
  /** Each time it was reopened, oldest first. */
  reopened_at: Type.Array(timestamp('when it came back')),
  resolved_at: nullable(timestamp('null while open')),
  /** Why it was resolved; null while open. */
  resolution: nullable(Type.String()),
  state: stringEnum(...TICKET_STATES),
  /** Of its triage, for a change; 0 = nobody has changed it. */
  version: count('version'),
  assignee: nullable(Type.Object({ id: identifier('member'), name: Type.String() })),
  /** Of an acknowledged or snoozed one. */
  acknowledged: nullable(
    Type.Object({
      by: Type.String(),
      at: timestamp('when it was acknowledged'),
      /** Null = until it is resolved or gets worse. */
      until: nullable(timestamp('the end of a snooze')),
    }),
  ),
  /** Of a silenced one: what silences it. */
  silence: nullable(
    Type.Object({
      id: identifier('silence identifier'),
      /** Null = unknown. */
      by: nullable(Type.String()),
      reason: Type.String(),
      note: Type.String(),
      /** Null = until a member ends it. */
      until: nullable(timestamp('its end')),
    }),
  ),
  /** Earlier and later tickets of the same finding, the newest first; at most 10. */
  others: Type.Array(
    Type.Object({
      id: identifier('ticket identifier'),
      first_seen_at: timestamp('when it was found first'),
      resolved_at: nullable(timestamp('null while open')),
    }),
  ),
  /** The run that opened it, and the run before; null if there are no two. */
  runs: nullable(Type.Object({ before: identifier('run'), opened: identifier('run') })),
  /** Alerts of the connection, the open ones first, that were triggered while the ticket was open; at most 10. */
  alerts: Type.Array(
    Type.Object({
      id: identifier('alert identifier'),
      rule_name: Type.String(),
      severity: stringEnum(...SEVERITIES),
      state: stringEnum('open', 'resolved'),
      triggered_at: timestamp('when it was triggered'),
    }),
  ),
  /** What happened to it and who did it, the oldest first. */
  history: Type.Array(TicketStep),
});

export type TicketDetail = Static<typeof TicketDetail>;

const selectTicket = `
  select t.ticket_id as id, t.connection_id, c.name as connection_name, c.removed_at is not null as connection_removed,
         t.check_id, t.category, t.title, t.database, t.object, t.severity, t.status, t.metric_line, t.measured, t.remediation,
         t.first_seen_at, t.last_seen_at, t.reopened_at, t.resolved_at,
         case when t.status = 'resolved' then t.resolution end as resolution,
         c.engine, c.thresholds, ${tagsOfConnection} as tags, ${overridesOfConnection} as overrides, ${ticketState} as state, coalesce(g.version, 0) as version,
         m.member_id as assignee_id, m.name as assignee_name,
         g.acknowledged_by, g.acknowledged_at, g.acknowledged_until,
         s.silence_id, s.created_by as silenced_by, s.reason as silence_reason, s.note as silence_note,
         s.ends_at as silenced_until
    from ticket t
    join connection c on c.account_id = t.account_id and c.connection_id = t.connection_id
    left join ticket_triage g on g.account_id = $1 and g.ticket_id = t.ticket_id
    left join member m on m.account_id = $1 and m.member_id = g.assignee_id ${activeSilence}
   where t.account_id = $1 and t.ticket_id = $2`;

const selectOthers = `
  select o.ticket_id as id, o.first_seen_at, o.resolved_at
    from ticket t
    join ticket o on o.account_id = $1 and o.connection_id = t.connection_id and o.check_id = t.check_id
                 and o.database = t.database and o.object is not distinct from t.object and o.ticket_id <> t.ticket_id
   where t.account_id = $1 and t.ticket_id = $2
   order by o.connection_number desc
   limit 10`;

const selectAlerts = `
  select a.alert_id as id, r.name as rule_name, a.severity, a.state, a.triggered_at
    from ticket t
    join alert a on a.account_id = $1 and a.connection_id = t.connection_id and a.state <> 'pending'
                and a.triggered_at >= t.first_seen_at and a.triggered_at <= coalesce(t.resolved_at, now())
    join alert_rule r on r.account_id = $1 and r.rule_id = a.rule_id
   where t.account_id = $1 and t.ticket_id = $2
   order by a.state = 'open' desc, a.triggered_at desc, a.alert_id desc
   limit 10`;

interface TicketRow
  extends Omit<
    TicketDetail,
    | 'first_seen_at'
    | 'last_seen_at'
    | 'reopened_at'
    | 'resolved_at'
    | 'thresholds'
    | 'why'
    | 'sql'
    | 'lock'
    | 'assignee'
    | 'acknowledged'
    | 'silence'
    | 'others'
    | 'runs'
    | 'alerts'
    | 'history'
  > {
  assignee_id: number | null;
  assignee_name: string | null;
  acknowledged_by: string | null;
  acknowledged_at: Date | null;
  acknowledged_until: Date | null;
  silence_id: number | null;
  silenced_by: string | null;
  silence_reason: string | null;
  silence_note: string | null;
  silenced_until: Date | null;
  remediation: string;
  first_seen_at: Date;
  last_seen_at: Date;
  reopened_at: Date[];
  resolved_at: Date | null;
  engine: Engine;
  thresholds: ConnectionThresholds;
  tags: string[];
  overrides: Override[];
}

const getTicket = consoleRoute({
  method: 'GET',
  path: '/tickets/:id',
  permission: 'tickets:read',
  response: TicketDetail,
  async handler({ actor: { accountId }, id, read }) {
    return read(async (run) => {
      const of = [accountId, id];
      const [[row], others, runs, alerts, entries, silences, deliveries] = await Promise.all([
        run<TicketRow>(selectTicket, of),
        run<OtherRow>(selectOthers, of),
        run<{ id: number }>(runsOfTicket, of),
        run<AlertRow>(selectAlerts, of),
        readTicketEntries(run, accountId, id),
        readTicketSilences(run, accountId, id),
        readTicketDeliveries(run, accountId, id),
      ]);
      if (!row) throw notFound();
      const [before, opened] = runs;
      return {
        ...shown(row),
        others: others.map(({ first_seen_at, resolved_at, ...other }) => ({
          ...other,
          first_seen_at: first_seen_at.toISOString(),
          resolved_at: resolved_at?.toISOString() ?? null,
        })),
        runs: before && opened ? { before: before.id, opened: opened.id } : null,
        alerts: alerts.map(({ triggered_at, ...alert }) => ({
          ...alert,
          triggered_at: triggered_at.toISOString(),
        })),
        history: toTicketHistory(row, { entries, silences, deliveries }, new Date()),
      };
    });
  },
});

export const ticketRoutes: ConsoleRoute[] = [getTicket];

interface OtherRow {
  id: number;
  first_seen_at: Date;
  resolved_at: Date | null;
}

interface AlertRow extends Omit<TicketDetail['alerts'][number], 'triggered_at'> {
  triggered_at: Date;
}

function shown(row: TicketRow): Omit<TicketDetail, 'others' | 'runs' | 'alerts' | 'history'> {
  const { engine, thresholds, tags, overrides, remediation, assignee_id, assignee_name, ...rest } = row;
  const { acknowledged_by, acknowledged_at, acknowledged_until, ...more } = rest;
  const { silence_id, silenced_by, silence_reason, silence_note, silenced_until, ...ticket } = more;
  const isAcknowledged = ticket.state === 'acknowledged' || ticket.state === 'snoozed';
  return {
    ...ticket,
    ...explained({ engine, thresholds, tags, overrides }, ticket.check_id, remediation),
    first_seen_at: ticket.first_seen_at.toISOString(),
    last_seen_at: ticket.last_seen_at.toISOString(),
    reopened_at: ticket.reopened_at.map((at) => at.toISOString()),
    resolved_at: ticket.resolved_at?.toISOString() ?? null,
    assignee: assignee_id === null ? null : { id: assignee_id, name: assignee_name ?? '' },
    acknowledged:
      isAcknowledged && acknowledged_at !== null
        ? {
            by: acknowledged_by ?? '',
            at: acknowledged_at.toISOString(),
            until: acknowledged_until?.toISOString() ?? null,
          }
        : null,
    silence:
      silence_id === null
        ? null
        : {
            id: silence_id,
            by: silenced_by,
            reason: silence_reason ?? '',
            note: silence_note ?? '',
            until: silenced_until?.toISOString() ?? null,
          },
  };
}
