import type pg from 'pg';
import type { EntryProperties } from '../../activity/catalogue/catalogue.ts';
import type { FaultMeasure } from '../../checks/measure.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import type { EventKind } from '../../vocabulary/event-kinds.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import type { EventConnection, NewEvent } from '../event.ts';
import { audienceOf, queueEvents } from './queue-events.ts';

const KINDS: Readonly<Record<TicketEntry['actionType'], EventKind | null>> = {
  ticket_opened: 'ops.ticket_created',
  ticket_reopened: 'ops.ticket_reopened',
  ticket_escalated: 'ops.ticket_escalated',
  ticket_deescalated: null,
  ticket_resolved: 'ops.ticket_resolved',
};

/** The events of changed tickets of a connection. `at` is the time of the change. */
export function ticketEvents(
  entries: readonly TicketEntry[],
  connection: EventConnection,
  at: Date,
): NewEvent[] {
  return entries.flatMap((entry) => {
    const kind = KINDS[entry.actionType];
    if (kind === null) return [];
    const event = ticketEvent(kind, entry.ticket, connection, at);
    if (kind !== 'ops.ticket_escalated') return [event];
    return [{ ...event, data: { ...event.data, previous_severity: entry.properties.from } }];
  });
}

/** The event of one ticket. */
export function ticketEvent(
  kind: EventKind,
  ticket: TicketEntry['ticket'],
  connection: EventConnection,
  at: Date,
): NewEvent {
  const { ticket_id, check_id, title, severity, first_seen_at, remediation, resolution_hours } = ticket;
  const named = { ticket_id, connection_id: connection.id };
  const data =
    kind === 'ops.ticket_resolved'
      ? { ...named, title, severity, first_seen_at, resolved_at: at, resolution_hours }
      : { ...named, check_id, title, severity, remediation, first_seen_at };
  return {
    kind,
    severity,
    connection,
    ticketId: ticket_id,
    data,
    details: {
      connection,
      title,
      check_id,
      database: ticket.database,
      object: ticket.object,
      metric_line: ticket.metric_line,
      measured: ticket.measured,
      since: first_seen_at.toISOString(),
      remediation: remediation || null,
      resolution: kind === 'ops.ticket_resolved' ? ticket.resolution : null,
      page: PAGE_LINKS.ticket(ticket_id),
    },
  };
}

const selectConnection = `
  select c.connection_id as id, c.name, c.host, c.port, c.connection_type, ${tagsOfConnection} as tags
    from connection c
   where c.account_id = $1 and c.connection_id = $2`;

/** Queues the events of changes that a member made: a silence, or the removal of a connection. */
export async function queueMemberChanges(
  client: pg.ClientBase,
  scope: { accountId: number; connectionId: number; at: string },
  entries: readonly TicketEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const audience = await audienceOf(client, scope);
  if (audience.destinations.length === 0) return;
  const { rows } = await client.query<EventConnection>(selectConnection, [
    scope.accountId,
    scope.connectionId,
  ]);
  const events = rows.flatMap((connection) => ticketEvents(entries, connection, audience.at));
  await queueEvents(client, scope, events, audience);
}

/** An activity entry to record in the same transaction, for `Change.record`. */
export interface TicketEntry {
  actionType:
    | 'ticket_opened'
    | 'ticket_reopened'
    | 'ticket_resolved'
    | 'ticket_escalated'
    | 'ticket_deescalated';
  pagePath: string;
  properties: EntryProperties<TicketEntry['actionType']> & { from?: string };
  /** The ticket after the change, for notifications. */
  ticket: ChangedTicketFacts;
}

/** What notifications say of a ticket. */
export interface ChangedTicketFacts {
  ticket_id: number;
  check_id: string;
  /** '' = the whole server. */
  database: string;
  object: string | null;
  title: string;
  severity: Severity;
  metric_line: string;
  measured: FaultMeasure | null;
  remediation: string;
  first_seen_at: Date;
  /** Why it was resolved; null = it is open. */
  resolution: string | null;
  resolution_hours: number | null;
}

/** SQL: the columns of {@link ChangedTicketFacts}, from `ticket t`. */
export const changedFacts = `
            t.ticket_id, t.check_id, t.database, t.object, t.title, t.severity, t.metric_line, t.measured, t.remediation,
            t.first_seen_at, t.resolution,
            round(extract(epoch from t.resolved_at - t.first_seen_at) / 3600, 2)::float8 as resolution_hours`;
