import type pg from 'pg';
import { type ChangedTicketFacts, changedFacts, type TicketEntry } from '../../ops/record-findings.ts';
import type { NewEvent } from '../event.ts';
import type { RunWatch } from './run-watch.ts';
import { ticketEvent } from './ticket-events.ts';

// The runs of the window are the newest ones. Before them is one that was not in it, unless none is left.
const lastRunOutside = `
  coalesce((select h.created_at from health_check h
             where h.account_id = $1 and h.connection_id = $2 and not h.in_maintenance and h.created_at < $3
             order by h.created_at desc, h.health_check_id desc limit 1), '-infinity')`;

const selectOpened = `
  select ${changedFacts}
    from ticket t
   where t.account_id = $1 and t.connection_id = $2 and t.status = 'open' and t.first_seen_at < $3
     and t.first_seen_at > ${lastRunOutside}
   order by t.ticket_id`;

/**
 * The events of tickets that were opened in the maintenance window that has just ended, and are still open. Call it in
 * the first run after the window, before that run's own tickets are sent.
 */
export async function openedInMaintenance(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  watch: RunWatch,
): Promise<NewEvent[]> {
  const values = [accountId, connectionId, at];
  const { rows } = await client.query<ChangedTicketFacts>(selectOpened, values);
  return rows.map((ticket) => ticketEvent('ops.ticket_created', ticket, watch.connection, watch.at));
}

const selectKnown = `
  select ticket_id
    from ticket
   where account_id = $1 and connection_id = $2 and ticket_id = any ($4::bigint[]) and first_seen_at <= ${lastRunOutside}`;

/**
 * Of tickets that were resolved in a maintenance window, those that were opened before it: their receivers wait for the
 * end.
 */
export async function openedBeforeMaintenance(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  entries: readonly TicketEntry[],
): Promise<TicketEntry[]> {
  const resolved = entries.filter(({ actionType }) => actionType === 'ticket_resolved');
  if (resolved.length === 0) return [];
  const ids = resolved.map(({ ticket }) => ticket.ticket_id);
  const { rows } = await client.query<{ ticket_id: number }>(selectKnown, [accountId, connectionId, at, ids]);
  const known = new Set(rows.map(({ ticket_id }) => ticket_id));
  return resolved.filter(({ ticket }) => known.has(ticket.ticket_id));
}
