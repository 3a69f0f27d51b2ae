import type { Read } from '../store/read.ts';

/** A log entry about a ticket. */
export interface TicketLogEntry {
  at: Date;
  action_type: string;
  properties: Record<string, unknown>;
}

/** The most entries of a ticket that are read. */
const MOST_TICKET_ENTRIES = 200;

const select = `
  select occurred_at as at, action_type, properties
    from activity
   where account_id = $1 and ticket_id = $2
   order by id desc
   limit ${MOST_TICKET_ENTRIES}`;

/** The newest log entries about a ticket, the oldest of them first. */
export async function readTicketEntries(
  run: Read,
  accountId: number,
  ticketId: number,
): Promise<TicketLogEntry[]> {
  return (await run<TicketLogEntry>(select, [accountId, ticketId])).reverse();
}
