import type { Change } from '../../activity/record-entry.ts';

// The queue is locked first, as by everything that needs both. The dispatcher corrects due_at.
const cancel = `
  with queue as materialized (
    select account_id, destination_id
      from destination_queue
     where account_id = $1 and destination_id = $2
       for update
  ), cancelled as (
    update delivery v
       set state = 'cancelled', ended_at = clock_timestamp(), reason = $3
      from queue
     where v.account_id = queue.account_id and v.destination_id = queue.destination_id and v.state = 'queued'
    returning 1
  ), emptied as (
    update destination_queue q
       set queued = 0, due_at = null
      from queue
     where q.account_id = queue.account_id and q.destination_id = queue.destination_id
  )
  select count(*)::int as cancelled from cancelled`;

/**
 * Cancels what is queued for a destination, and returns how many deliveries that were. Each gets its entry in the log within
 * seconds.
 */
export async function cancelQueued(
  { accountId, client }: Pick<Change, 'accountId' | 'client'>,
  destinationId: number,
  reason: string,
): Promise<number> {
  const { rows } = await client.query<{ cancelled: number }>(cancel, [accountId, destinationId, reason]);
  return rows[0]?.cancelled ?? 0;
}
