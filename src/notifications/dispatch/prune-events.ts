import type pg from 'pg';
import { one } from '../../database/one.ts';

const STEP = 1_000;

// The queue before its deliveries, as everything does that needs both: one destination at a time.
const giveUp = `
  with first as materialized (
    select account_id, destination_id
      from delivery
     where state = 'queued' and queued_at < now() - interval '30 days'
     limit 1
  ), queue as materialized (
    select q.account_id, q.destination_id
      from destination_queue q
      join first using (account_id, destination_id)
       for update of q
  ), old as materialized (
    select v.account_id, v.destination_id, v.delivery_id
      from delivery v
      join queue using (account_id, destination_id)
     where v.state = 'queued' and v.queued_at < now() - interval '30 days'
     limit ${STEP}
  ), ended as (
    update delivery v
       set state = 'given_up', ended_at = clock_timestamp(), reason = 'It was queued for 30 days.'
      from old o
     where v.account_id = o.account_id and v.destination_id = o.destination_id and v.delivery_id = o.delivery_id
       and v.state = 'queued'
    returning 1
  ), changed as (
    update destination_queue q
       set queued = greatest(q.queued - (select count(*) from ended), 0), due_at = now()
      from queue
     where q.account_id = queue.account_id and q.destination_id = queue.destination_id
  )
  select count(*)::int as rows from ended`;

/** SQL: deletes at most {@link STEP} rows of a table that meet a condition, the oldest first. */
const pruneOldest = (table: string, at: string, condition: string) => `
  with gone as (
    delete from ${table}
     where ctid = any (array(select ctid from ${table} x
                              where ${at} < now() - interval '30 days' and ${condition}
                              order by ${at}
                              limit ${STEP}))
    returning 1
  )
  select count(*)::int as rows from gone`;

// A delivery waits for its entry in the log. What it needs stays as long as it does: one that was sent again is younger than
// its event.
const steps: readonly string[] = [
  giveUp,
  pruneOldest('delivery', 'queued_at', 'x.ended_at is not null and x.is_logged'),
  pruneOldest('delivery_attempt', 'started_at', 'true'),
  pruneOldest(
    'delivery_message',
    'made_at',
    `not exists (select from delivery v where v.account_id = x.account_id and v.destination_id = x.destination_id
                                          and v.message_id = x.message_id)`,
  ),
  pruneOldest(
    'event',
    'occurred_at',
    'not exists (select from delivery v where v.account_id = x.account_id and v.event_id = x.event_id)',
  ),
];

/**
 * Gives up deliveries that were queued for 30 days, and deletes the events, deliveries, messages and attempts that are older.
 * Works in transactions of at most 1,000 rows, and yields the number of each.
 */
export async function* pruneEvents(owner: pg.Pool): AsyncGenerator<number> {
  for (const statement of steps) {
    for (;;) {
      const { rows } = await owner.query<{ rows: number }>(statement);
      const { rows: count } = one(rows, 'prune events');
      if (count === 0) break;
      yield count;
    }
  }
}
