import type { Read } from '../../store/read.ts';
import type { EventKind } from '../../vocabulary/event-kinds.ts';
import type { DeliveryState } from './list-deliveries.ts';

/** A delivery of an event about a ticket. */
export interface TicketDelivery {
  id: number;
  destination_id: number;
  destination: string;
  kind: EventKind;
  state: DeliveryState;
  queued_at: Date;
  /** Null while it is queued. */
  ended_at: Date | null;
  /** Why it was cancelled or given up. */
  reason: string | null;
}

/** The most deliveries of a ticket that are read. */
const MOST = 100;

const select = `
  select v.delivery_id as id, v.destination_id, d.name as destination, e.kind, v.state, v.queued_at, v.ended_at,
         case when v.state in ('given_up', 'cancelled') then coalesce(v.reason, v.result) end as reason
    from event e
    join delivery v on v.account_id = e.account_id and v.event_id = e.event_id
    join destination d on d.account_id = v.account_id and d.destination_id = v.destination_id
   where e.account_id = $1 and e.ticket_id = $2
   order by v.queued_at desc, v.delivery_id desc
   limit ${MOST}`;

/** Who was told of a ticket, and who is yet to be told: the newest deliveries, in no order that matters. */
export function readTicketDeliveries(
  run: Read,
  accountId: number,
  ticketId: number,
): Promise<TicketDelivery[]> {
  return run<TicketDelivery>(select, [accountId, ticketId]);
}
