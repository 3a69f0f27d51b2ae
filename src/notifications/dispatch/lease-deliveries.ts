import type pg from 'pg';
import { inTransaction } from '../../store/connect.ts';
import type { StoredEvent } from '../event.ts';
import type { DueDestination } from './find-due.ts';

/** How long other processes leave a leased delivery alone, in seconds. An attempt takes at most 15. */
const LEASE_SECONDS = 30;

/** A delivery that this process may try now. */
export interface LeasedDelivery extends StoredEvent {
  delivery_id: number;
  epoch: string;
  sequence: number;
  /** How often it was tried before. */
  attempts: number;
  /** The message that it is sent in; null = none was made. */
  message_id: number | null;
}

/** What is sent in one request: one delivery of a webhook, or those of one message. */
export interface Lease {
  destination: DueDestination;
  deliveries: [LeasedDelivery, ...LeasedDelivery[]];
}

/** A destination with the number of requests that it may get, and the most events in one of its messages. */
export interface Share {
  destination: DueDestination;
  slots: number;
  /** Null: each event is sent by itself. */
  mostEvents: number | null;
}

// What is lost with the store's last moments is sent again. So nobody waits for a disk here. And a process that is
// stopped amid the transaction must not keep the account's runs waiting.
const settings = `
  set local synchronous_commit = off;
  set local idle_in_transaction_session_timeout = '5s'`;

const lockQueues = `
  select q.destination_id,
         least(d.requests_per_second,
               q.tokens + d.requests_per_second * extract(epoch from now() - q.tokens_at))::float8 as tokens
    from destination_queue q
    join destination d using (account_id, destination_id)
   where q.account_id = any($1::bigint[])
     and q.destination_id = any($2::bigint[])
     and q.due_at <= now()
     and d.state = 'enabled'
     and d.removed_at is null
     for update of q skip locked`;

const move = `
  update delivery v
     set due_at = now() + interval '${LEASE_SECONDS} s'
    from taken t
    join event e using (account_id, event_id)
   where v.account_id = t.account_id and v.destination_id = t.destination_id and v.delivery_id = t.delivery_id
  returning v.destination_id, v.delivery_id, v.epoch, v.sequence, v.attempts, v.message_id, e.event_id, e.kind, e.occurred_at,
            e.severity, e.connection_id, e.ticket_id, e.alert_id, e.body, e.details`;

// One statement for all webhooks: $3 are the numbers of deliveries that each destination gets.
const leaseEvents = `
  with taken as materialized (
    select due.*
      from unnest($1::bigint[], $2::bigint[], $3::int[]) as share (account_id, destination_id, slots)
     cross join lateral (select account_id, destination_id, delivery_id, event_id
                           from delivery v
                          where v.account_id = share.account_id
                            and v.destination_id = share.destination_id
                            and v.state = 'queued'
                            and v.due_at <= now()
                          order by v.due_at, v.delivery_id
                          limit share.slots
                            for update skip locked) due
  )
  ${move}`;

// The message that is due first, with all its deliveries; or, where none was made, every delivery that is due within the
// next 30 s. One that is held for quiet hours comes along when these are over. A digest is a message by itself.
const leaseMessage = `
  with head as materialized (
    select v.message_id, v.delivery_id, e.kind = 'digest' as is_alone
      from delivery v
      join event e using (account_id, event_id)
     where v.account_id = $1 and v.destination_id = $2 and v.state = 'queued' and v.due_at <= now()
     order by v.due_at, v.delivery_id
     limit 1
  ), taken as materialized (
    select v.account_id, v.destination_id, v.delivery_id, v.event_id
      from delivery v
     where v.account_id = $1
       and v.destination_id = $2
       and v.state = 'queued'
       and exists (select from head
                    where head.message_id = v.message_id
                       or (head.message_id is null
                           and v.message_id is null
                           and case when head.is_alone then v.delivery_id = head.delivery_id
                                    else not exists (select from event e
                                                      where e.account_id = v.account_id and e.event_id = v.event_id
                                                        and e.kind = 'digest') end
                           and (v.due_at <= now()
                                or v.due_at <= least(now() + interval '30 s', v.queued_at + interval '31 s'))))
     order by v.due_at, v.delivery_id
     limit $3
       for update skip locked
  )
  ${move}`;

// A queue without tokens is due when it has one.
const updateQueues = `
  update destination_queue q
     set tokens = left_over.tokens,
         tokens_at = now(),
         due_at = greatest((select min(v.due_at)
                              from delivery v
                             where v.account_id = q.account_id
                               and v.destination_id = q.destination_id
                               and v.state = 'queued'),
                           case when left_over.tokens < 1
                                then now() + interval '1 s' * (1 - left_over.tokens) / d.requests_per_second end)
    from unnest($1::bigint[], $2::bigint[], $3::float8[]) as left_over (account_id, destination_id, tokens)
    join destination d using (account_id, destination_id)
   where q.account_id = left_over.account_id and q.destination_id = left_over.destination_id`;

type Leased = LeasedDelivery & { destination_id: number };

/**
 * Leases due deliveries of the destinations, at most as many requests of each as its share and its rate allow. A
 * destination that another process is leasing from is skipped. A lease that is not recorded expires after 30 s, and another
 * process takes it over.
 */
export function leaseDeliveries(writer: pg.Pool, shares: readonly Share[]): Promise<Lease[]> {
  return inTransaction(writer, async (client) => {
    await client.query(settings);
    const locked = await client.query<{ destination_id: number; tokens: number }>(lockQueues, [
      [...new Set(shares.map(({ destination }) => destination.accountId))],
      shares.map(({ destination }) => destination.destinationId),
    ]);
    const tokens = new Map(locked.rows.map((queue) => [queue.destination_id, queue.tokens]));
    const own = shares.flatMap((share) => {
      const left = tokens.get(share.destination.destinationId);
      if (left === undefined) return [];
      return [{ ...share, tokens: left, slots: Math.min(share.slots, Math.floor(left)) }];
    });
    const leases = [
      ...(await takeEvents(
        client,
        own.filter(({ slots, mostEvents }) => slots > 0 && mostEvents === null),
      )),
    ];
    for (const share of own) {
      if (share.slots > 0 && share.mostEvents !== null)
        leases.push(...(await takeMessage(client, share, share.mostEvents)));
    }
    const taken = (id: number) => leases.filter(({ destination }) => destination.destinationId === id).length;
    await client.query(updateQueues, [
      own.map(({ destination }) => destination.accountId),
      own.map(({ destination }) => destination.destinationId),
      own.map(({ destination, tokens }) => tokens - taken(destination.destinationId)),
    ]);
    return leases;
  });
}

async function takeEvents(client: pg.ClientBase, shares: readonly Share[]): Promise<Lease[]> {
  if (shares.length === 0) return [];
  const { rows } = await client.query<Leased>(leaseEvents, [
    shares.map(({ destination }) => destination.accountId),
    shares.map(({ destination }) => destination.destinationId),
    shares.map(({ slots }) => slots),
  ]);
  const destinations = new Map(
    shares.map(({ destination }) => [destination.destinationId, destination] as const),
  );
  return rows.flatMap(({ destination_id, ...delivery }) => {
    const destination = destinations.get(destination_id);
    return destination ? [{ destination, deliveries: [delivery] }] : [];
  });
}

async function takeMessage(
  client: pg.ClientBase,
  { destination }: Share,
  mostEvents: number,
): Promise<Lease[]> {
  const { rows } = await client.query<Leased>(leaseMessage, [
    destination.accountId,
    destination.destinationId,
    mostEvents,
  ]);
  const [first, ...others] = rows
    .map(({ destination_id: _, ...delivery }) => delivery)
    .toSorted((a, b) => a.sequence - b.sequence || a.delivery_id - b.delivery_id);
  return first ? [{ destination, deliveries: [first, ...others] }] : [];
}
