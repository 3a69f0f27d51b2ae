import { notFound } from '../../platform/rejection.ts';
import type { Read } from '../../store/read.ts';
import { type DeliveryRow, deliveryColumns } from './list-deliveries.ts';

/** An attempt to send a delivery. */
interface AttemptRow {
  /** 1, 2, 3 … */
  attempt: number;
  started_at: Date;
  milliseconds: number;
  /** Null = no answer. */
  status: number | null;
  result: string;
  /** That were sent, without secrets. */
  headers: Readonly<Record<string, string>>;
  /** At most 4 kB of the answer. */
  response: string;
}

/** A delivery with what is sent and its attempts, the first one first. */
export interface DeliveryWithAttempts extends DeliveryRow {
  destination_id: number;
  /** What is sent: the event's own body, or the message that it is in; null = the message is not made yet. */
  body: string | null;
  content_type: string;
  list: AttemptRow[];
}

const select = `
  select ${deliveryColumns},
         v.destination_id,
         case when v.message_id is not null then m.body when d.channel = 'webhook' then e.body end as body,
         coalesce(m.content_type, 'application/json') as content_type
    from delivery v
    join event e using (account_id, event_id)
    join destination d on d.account_id = v.account_id and d.destination_id = v.destination_id
    left join delivery_message m
      on m.account_id = v.account_id and m.destination_id = v.destination_id and m.message_id = v.message_id
   where v.account_id = $1
     and v.destination_id in (select destination_id from destination where account_id = $1)
     and v.delivery_id = $2`;

const selectAttempts = `
  select attempt, started_at, milliseconds, status, result, headers, response
    from delivery_attempt
   where account_id = $1 and destination_id = $2 and delivery_id = $3
   order by attempt`;

/** A delivery of the account. Throws `notFound`. */
export async function readDelivery(
  read: Read,
  accountId: number,
  deliveryId: number,
): Promise<DeliveryWithAttempts> {
  const [delivery] = await read<Omit<DeliveryWithAttempts, 'list'>>(select, [accountId, deliveryId]);
  if (!delivery) throw notFound('delivery', deliveryId, '. Deliveries are kept for 30 days.');
  const list = await read<AttemptRow>(selectAttempts, [accountId, delivery.destination_id, deliveryId]);
  return { ...delivery, list };
}
