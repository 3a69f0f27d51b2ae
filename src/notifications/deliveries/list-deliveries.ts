import type { Read } from '../../store/read.ts';
import type { EventKind } from '../../vocabulary/event-kinds.ts';

/** The states of a delivery. */
export const DELIVERY_STATES = ['queued', 'accepted', 'given_up', 'cancelled'] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A delivery as it is listed. */
export interface DeliveryRow {
  id: number;
  event_id: string;
  kind: EventKind;
  epoch: string;
  sequence: number;
  state: DeliveryState;
  queued_at: Date;
  /** When the next attempt is due; null = it ended. */
  due_at: Date | null;
  ended_at: Date | null;
  attempts: number;
  /** Of the last attempt; null = no answer, or no attempt. */
  status: number | null;
  result: string | null;
  /** Why it was cancelled or given up. */
  reason: string | null;
  title: string;
  connection_name: string | null;
}

/** Which deliveries of a destination to list. */
export interface DeliveryFilter {
  state?: DeliveryState;
  kind?: EventKind;
  /** The id of the last delivery of the page before. */
  before?: number;
  limit: number;
}

/** The columns of a {@link DeliveryRow}, of `delivery v` and `event e`. */
export const deliveryColumns = `
         v.delivery_id as id, v.event_id, e.kind, v.epoch, v.sequence, v.state, v.queued_at,
         case when v.state = 'queued' then v.due_at end as due_at, v.ended_at, v.attempts, v.status, v.result, v.reason,
         e.details ->> 'title' as title, e.details -> 'connection' ->> 'name' as connection_name`;

const list = `
  select ${deliveryColumns}
    from delivery v
    join event e using (account_id, event_id)
   where v.account_id = $1
     and v.destination_id = $2
     and ($3::bigint is null
          or (v.queued_at, v.delivery_id)
             < (select queued_at, delivery_id from delivery where account_id = $1 and destination_id = $2 and delivery_id = $3))
     and ($4::text is null or v.state = $4)
     and ($5::text is null or e.kind = $5)
   order by v.account_id desc, v.destination_id desc, v.queued_at desc, v.delivery_id desc
   limit $6`;

/** Deliveries of a destination, the newest first. Pages stay stable while deliveries are added. */
export function listDeliveries(
  read: Read,
  accountId: number,
  destinationId: number,
  { state, kind, before, limit }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  return read(list, [accountId, destinationId, before ?? null, state ?? null, kind ?? null, limit]);
}
