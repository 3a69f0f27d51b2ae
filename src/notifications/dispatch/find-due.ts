import type pg from 'pg';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import { type Contender, SLOTS_OF_DESTINATION } from './share-slots.ts';

/** A destination with due deliveries. */
export interface DueDestination extends Contender {
  accountId: number;
  destinationId: number;
  channel: Channel;
  /** Whether it is neither disabled, paused nor removed. */
  isEnabled: boolean;
}

// Takes no lock. An account has at most 20 destinations, so those of 25 accounts fit. $1 are the destinations that have
// all the slots that they may have.
const selectDue = `
  select q.account_id as "accountId",
         q.destination_id as "destinationId",
         d.channel,
         d.state = 'enabled' and d.removed_at is null as "isEnabled",
         q.failing_since is not null as "isFailing",
         (select count(*)
            from (select from delivery v
                   where v.account_id = q.account_id
                     and v.destination_id = q.destination_id
                     and v.state = 'queued'
                     and v.due_at <= now()
                   limit ${SLOTS_OF_DESTINATION}) waiting)::int as wants
    from destination_queue q
    join destination d using (account_id, destination_id)
   where q.due_at <= now()
     and q.destination_id <> all($1::bigint[])
     and ${mayStartWork('q.account_id')}
   order by q.due_at
   limit 500`;

/** The destinations with due deliveries, except those in `full`. The one that is due longest comes first. */
export async function findDue(writer: pg.Pool, full: readonly number[]): Promise<DueDestination[]> {
  const { rows } = await writer.query<DueDestination>(selectDue, [full]);
  return rows;
}

// Locks the destination: enabling it waits, and sets due_at after this.
const park = `
  with idle as materialized (
    select account_id, destination_id
      from destination
     where destination_id = any($1::bigint[])
       and (state <> 'enabled' or removed_at is not null)
       for share skip locked
  )
  update destination_queue q
     set due_at = null
    from idle i
   where q.account_id = i.account_id and q.destination_id = i.destination_id`;

/**
 * Takes the queues of destinations that are not enabled out of the index of due ones, so that any number of them costs
 * nothing. The next event, or enabling, brings them back.
 */
export async function parkQueues(writer: pg.Pool, due: readonly DueDestination[]): Promise<void> {
  await writer.query(park, [due.map(({ destinationId }) => destinationId)]);
}
