import type pg from 'pg';

const REASON = 'The store was restored from a backup.';

const pause = `
  update destination
     set state = 'paused', state_reason = $1, state_since = now()
   where state <> 'disabled' and removed_at is null`;

const cancel = `
  update delivery
     set state = 'cancelled', ended_at = now(), reason = $1
   where state = 'queued'`;

const empty = `
  update destination_queue
     set epoch = left(md5(gen_random_uuid()::text), 12), last_sequence = 0, queued = 0, due_at = null, failing_since = null`;

/**
 * Pauses the destinations of a store that was just restored, so that a copy pages nobody. What was queued at the time of the
 * backup is cancelled: the restored store can't know whether it was sent since. Each destination gets a new epoch, because
 * the backed-up store may have used further numbers of its sequence. Destinations that were disabled stay so.
 */
export async function pauseRestored(client: pg.ClientBase): Promise<void> {
  await client.query(cancel, [REASON]);
  await client.query(empty);
  await client.query(pause, [REASON]);
}
