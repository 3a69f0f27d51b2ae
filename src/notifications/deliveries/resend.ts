import type pg from 'pg';
import { one } from '../../store/one.ts';

/** The ends of deliveries that can be sent again. */
export const ENDED_STATES = ['accepted', 'given_up', 'cancelled'] as const;

export type EndedState = (typeof ENDED_STATES)[number];

// A delivery of its own: the earlier one keeps its attempts and its entry in the log. The event has the same id and the same
// place in the sequence. Locks the queue first, as everything does that needs both.
const resend = `
  with queue as materialized (
    select account_id, destination_id
      from destination_queue
     where account_id = $1 and destination_id = $2
       for update
  ), again as (
    insert into delivery (account_id, destination_id, event_id, epoch, sequence, queued_at, due_at, is_logged)
    select distinct on (v.epoch, v.sequence)
           v.account_id, v.destination_id, v.event_id, v.epoch, v.sequence, now(), now(), e.kind !~ '^(ops|alert)\\.'
      from delivery v
      join queue on queue.account_id = v.account_id and queue.destination_id = v.destination_id
      join event e on e.account_id = v.account_id and e.event_id = v.event_id
      join destination d on d.account_id = v.account_id and d.destination_id = v.destination_id
     where d.removed_at is null
       and v.state = any($3)
       and not exists (select from delivery q
                        where q.account_id = v.account_id
                          and q.destination_id = v.destination_id
                          and q.event_id = v.event_id
                          and q.state = 'queued')
       and WHICH
     order by v.epoch, v.sequence
     limit $4
    returning account_id, destination_id, delivery_id
  ), changed as (
    update destination_queue q
       set queued = q.queued + (select count(*) from again), due_at = least(q.due_at, now())
      from queue
     where q.account_id = queue.account_id
       and q.destination_id = queue.destination_id
       and exists (select from again)
  )
  select count(*)::int as queued, max(delivery_id) as "deliveryId" from again`;

const resendOne = resend.replace('WHICH', 'v.delivery_id = $5');
const resendMany = resend.replace('WHICH', 'v.queued_at >= $5 and v.queued_at < $6');

interface Queued {
  queued: number;
  deliveryId: number | null;
}

/** A delivery of a destination. */
export interface DeliveryKey {
  accountId: number;
  destinationId: number;
  deliveryId: number;
}

/** The most deliveries that one request sends again. */
const MOST_RESENT = 10_000;

/**
 * Sends a delivery that ended again, at once: the same event with the same id and sequence, in a new delivery. Returns its
 * id; null if the delivery does not exist, or if its event is queued for the destination already.
 */
export async function resendDelivery(
  client: pg.ClientBase | pg.Pool,
  { accountId, destinationId, deliveryId }: DeliveryKey,
): Promise<number | null> {
  const { rows } = await client.query<Queued>(resendOne, [
    accountId,
    destinationId,
    ENDED_STATES,
    1,
    deliveryId,
  ]);
  return one(rows, 'send a delivery again').deliveryId;
}

/** The deliveries to send again. */
export interface ResendRange {
  accountId: number;
  destinationId: number;
  /** When they were first queued: from this time on. */
  from: Date;
  /** And before this one. */
  to: Date;
  states: readonly EndedState[];
}

/** {@link resendDelivery} for a range, each event once, at most {@link MOST_RESENT}. Returns how many were queued. */
export async function resendRange(
  client: pg.ClientBase | pg.Pool,
  { accountId, destinationId, from, to, states }: ResendRange,
): Promise<number> {
  const { rows } = await client.query<Queued>(resendMany, [
    accountId,
    destinationId,
    states,
    MOST_RESENT,
    from,
    to,
  ]);
  return one(rows, 'send deliveries again').queued;
}
