import type pg from 'pg';
import { doesNotMove } from '../../store/cells/moving.sql.ts';
import { one } from '../../store/one.ts';
import { pruneOldest } from '../../store/prune-oldest.ts';

const STEP = 1_000;

// The queue before its deliveries, as everything does that needs both: one destination at a time.
const giveUp = `
  with first as materialized (
    select account_id, destination_id
      from delivery
     where state = 'queued' and queued_at < now() - interval '30 days' and ${doesNotMove('delivery.account_id')}
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

// Who was told of a ticket or an alert is told of its end, so a destination's first delivery about one that is open stays: the first
// that was accepted, or else the first.
const isLastTrace = `
  exists (select
            from event e
            join destination d on d.account_id = e.account_id and d.destination_id = x.destination_id and d.removed_at is null
           where e.account_id = x.account_id and e.event_id = x.event_id
             and (exists (select from ticket t
                           where t.account_id = e.account_id and t.ticket_id = e.ticket_id and t.status = 'open')
                  or exists (select from alert a
                              where a.account_id = e.account_id and a.alert_id = e.alert_id and a.state <> 'resolved'))
             and not exists (select
                               from event f
                               join delivery v on v.account_id = f.account_id and v.event_id = f.event_id
                              where f.account_id = e.account_id and (f.ticket_id = e.ticket_id or f.alert_id = e.alert_id)
                                and v.destination_id = x.destination_id
                                and (v.state <> 'accepted', v.delivery_id) < (x.state <> 'accepted', x.delivery_id)))`;

// A delivery waits for its entry in the log. What it needs stays as long as it does: one that was sent again is younger than
// its event.
const OLD = [
  {
    table: 'delivery',
    at: 'queued_at',
    condition: `x.ended_at is not null and x.is_logged and not ${isLastTrace}`,
  },
  { table: 'delivery_attempt', at: 'started_at' },
  {
    table: 'delivery_message',
    at: 'made_at',
    condition: `not exists (select from delivery v where v.account_id = x.account_id and v.destination_id = x.destination_id
                                                     and v.message_id = x.message_id)`,
  },
  {
    table: 'event',
    at: 'occurred_at',
    condition:
      'not exists (select from delivery v where v.account_id = x.account_id and v.event_id = x.event_id)',
  },
];

/**
 * Gives up deliveries that were queued for 30 days, and deletes the events, deliveries, messages and attempts that are older, but
 * not a destination's first delivery about a ticket or an alert that is open.
 * Works in transactions of at most 1,000 rows, and yields the number of each.
 */
export async function* pruneEvents(owner: pg.Pool): AsyncGenerator<number> {
  for (;;) {
    const { rows } = await owner.query<{ rows: number }>(giveUp);
    const { rows: count } = one(rows, 'give up deliveries');
    if (count === 0) break;
    yield count;
  }
  for (const old of OLD) yield* pruneOldest(owner, { ...old, age: '30 days' });
}
