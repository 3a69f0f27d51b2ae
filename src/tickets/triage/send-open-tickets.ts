import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import type { EventConnection, NewEvent } from '../../notifications/event.ts';
import { audienceOf, queueEvents } from '../../notifications/outbox/queue-events.ts';
import {
  type ChangedTicketFacts,
  changedFacts,
  ticketEvent,
} from '../../notifications/outbox/ticket-events.ts';
import { wants } from '../../notifications/outbox/wanting-destination.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { severityRank } from '../../store/sql/severity-rank.sql.ts';
import { isSnoozed } from '../../store/sql/triage.sql.ts';
import { plansWith } from '../../vocabulary/event-kinds.ts';

/** The most tickets that are sent at once: more make a message that nobody reads. */
const MOST_SENT = 200;

/** Of so many open tickets, the most severe, those that the destination wants are sent. */
const MOST_READ = 5_000;

const selectOpen = `
  select ${changedFacts},
         jsonb_build_object('id', c.connection_id, 'name', c.name, 'host', c.host, 'port', c.port,
                            'connection_type', c.connection_type, 'tags', ${tagsOfConnection}) as connection
    from ticket t
    join connection c on c.account_id = t.account_id and c.connection_id = t.connection_id and c.removed_at is null
    left join ticket_triage g on g.account_id = $1 and g.ticket_id = t.ticket_id
   where t.account_id = $1 and t.status = 'open' and not ${isSnoozed}
     and not exists (select
                       from event e
                       join delivery v on v.account_id = $1 and v.event_id = e.event_id
                      where e.account_id = $1 and e.ticket_id = t.ticket_id
                        and v.destination_id = $2 and v.state in ('queued', 'accepted'))
   order by ${severityRank('t.severity')}, t.first_seen_at desc, t.ticket_id
   limit ${MOST_READ}`;

/**
 * The events that tell a destination of the open tickets that it wants and was not told of, the most severe first, at most
 * {@link MOST_SENT}. A second call does not repeat what is queued or was accepted.
 */
async function openTicketEvents(
  client: pg.ClientBase | pg.Pool,
  { accountId, at }: Pick<Change, 'accountId' | 'at'>,
  destinationId: number,
): Promise<NewEvent[]> {
  const { plan, destinations, at: now } = await audienceOf(client, { accountId, at });
  const destination = destinations.find(({ destination_id: id }) => id === destinationId);
  if (!destination || !plansWith('ops.ticket_created').includes(plan)) return [];
  const { rows } = await client.query<ChangedTicketFacts & { connection: EventConnection }>(selectOpen, [
    accountId,
    destinationId,
  ]);
  return rows
    .map(({ connection, ...ticket }) => ({
      ...ticketEvent('ops.ticket_created', ticket, connection, now),
      destinationIds: [destinationId],
      isAsked: true as const,
    }))
    .filter((event) => wants(destination, event))
    .slice(0, MOST_SENT);
}

/** How many open tickets {@link sendOpenTickets} would send now. */
export async function countOpenTickets(
  writer: pg.Pool,
  accountId: number,
  destinationId: number,
): Promise<number> {
  const at = new Date().toISOString();
  return (await openTicketEvents(writer, { accountId, at }, destinationId)).length;
}

/** Tells a destination now of the tickets that were open before it was added. Returns how many it is told of. */
export async function sendOpenTickets(change: Change, destinationId: number): Promise<number> {
  const { client, accountId, at } = change;
  const events = await openTicketEvents(client, change, destinationId);
  await queueEvents(client, { accountId, at }, events);
  return events.length;
}
