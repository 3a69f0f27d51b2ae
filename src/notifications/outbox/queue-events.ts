import type pg from 'pg';
import { one } from '../../database/one.ts';
import { GROUPING_CHANNELS } from '../../vocabulary/channels.ts';
import { plansWith } from '../../vocabulary/events/event-kinds.ts';
import type { Plan } from '../../vocabulary/plans.ts';
import type { NewEvent } from '../event.ts';
import { quietUntil } from '../maintenance/quiet-hours.ts';
import { eventBody, newEventId } from './event-body.ts';
import { type WantingDestination, wantingDestinations, wants } from './wanting-destination.ts';

/** How long a chat or mail waits for more events, in milliseconds. */
export const GROUP_MS = 30_000;

/** Beyond so many queued deliveries of a destination, completed health checks are dropped. */
export const MOST_QUEUED = 10_000;

/** Who gets events of an account now. */
export interface Audience {
  /** The time of the change. */
  at: Date;
  plan: Plan;
  destinations: readonly WantingDestination[];
}

const selectAudience = `
  select $2::timestamptz as at, a.plan, ${wantingDestinations} as destinations
    from account a
   where a.account_id = $1`;

/** Reads who gets events of an account. `at` is `Change.at`. */
export async function audienceOf(
  client: pg.ClientBase,
  { accountId, at }: { accountId: number; at: string },
): Promise<Audience> {
  const { rows } = await client.query<Audience>(selectAudience, [accountId, at]);
  return one(rows, "read an account's destinations");
}

// The destination's row is locked first, so that its numbers have no gap and no double.
const insertEvents = `
  with wanted as (
    select destination_id, event_id, due_at, may_drop, n
      from jsonb_to_recordset($4::jsonb)
        as w (destination_id bigint, event_id text, due_at timestamptz, may_drop boolean, n integer)
  ), queue as (
    select destination_id, epoch, last_sequence, queued
      from destination_queue
     where account_id = $1 and destination_id in (select destination_id from wanted)
     order by destination_id
       for update
  ), kept as (
    select w.destination_id, w.event_id, w.due_at, q.epoch,
           q.last_sequence + row_number() over (partition by w.destination_id order by w.n) as sequence
      from wanted w
      join queue q using (destination_id)
     where not (w.may_drop and q.queued >= ${MOST_QUEUED})
  ), counted as (
    select w.destination_id, count(*) as wanted, count(k.event_id) as kept, max(k.sequence) as last_sequence,
           min(k.due_at) as due_at
      from wanted w
      left join kept k using (destination_id, event_id)
     group by w.destination_id
  ), numbered as (
    update destination_queue q
       set last_sequence = coalesce(c.last_sequence, q.last_sequence),
           queued = q.queued + c.kept,
           dropped = q.dropped + c.wanted - c.kept,
           due_at = least(q.due_at, c.due_at)
      from counted c
     where q.account_id = $1 and q.destination_id = c.destination_id
  ), happened as (
    insert into event (account_id, event_id, kind, occurred_at, severity, connection_id, ticket_id, alert_id, body, details)
    select $1, event_id, kind, $2, severity, connection_id, ticket_id, alert_id, body, details
      from jsonb_to_recordset($3::jsonb)
        as e (event_id text, kind text, severity text, connection_id bigint, ticket_id bigint, alert_id bigint, body text, details jsonb)
     where event_id in (select event_id from kept)
  )
  insert into delivery (account_id, destination_id, event_id, epoch, sequence, queued_at, due_at, is_logged)
  select $1, k.destination_id, k.event_id, k.epoch, k.sequence, $2, k.due_at, e.kind !~ '^(ops|alert)\\.'
    from kept k
    join jsonb_to_recordset($3::jsonb) as e (event_id text, kind text) using (event_id)
   order by k.destination_id, k.sequence`;

/**
 * Queues events for the destinations that want them, in the transaction of the change that they report. It takes one
 * statement, and none if nobody wants them. Call it under the lock of the account's log.
 */
export async function queueEvents(
  client: pg.ClientBase,
  { accountId, at }: { accountId: number; at: string },
  events: readonly NewEvent[],
  audience?: Audience,
): Promise<void> {
  if (events.length === 0) return;
  const { at: happened, plan, destinations } = audience ?? (await audienceOf(client, { accountId, at }));
  const sent = events
    .filter(({ kind }) => plansWith(kind).includes(plan))
    .map((event) => ({ event, to: destinations.filter((destination) => wants(destination, event)) }))
    .filter(({ to }) => to.length > 0)
    .map((one) => ({ ...one, event_id: newEventId() }));
  if (sent.length === 0) return;
  const rows = sent.map(({ event, event_id }) => ({
    event_id,
    kind: event.kind,
    severity: event.severity,
    connection_id: event.connection?.id ?? null,
    ticket_id: event.ticketId ?? null,
    alert_id: event.alertId ?? null,
    body: eventBody(event.kind, happened, event.data),
    details: event.details,
  }));
  const deliveries = sent.flatMap(({ event, event_id, to }) =>
    to.map((destination) => ({
      destination_id: destination.destination_id,
      event_id,
      due_at: dueAt(destination, event, happened),
      may_drop: event.kind === 'health_check.completed',
    })),
  );
  const numbered = deliveries.map((delivery, n) => ({ ...delivery, n }));
  const values = [accountId, at, JSON.stringify(rows, storable), JSON.stringify(numbered)];
  await client.query({ name: 'queue events', text: insertEvents, values });
}

/** When the first attempt is due: chats and mails wait for more events, and quiet hours hold back what is not critical. */
function dueAt({ channel, quiet_hours }: WantingDestination, event: NewEvent, at: Date): Date {
  if (event.kind === 'test') return at;
  const quiet = event.severity === 'critical' ? null : quietUntil(quiet_hours, at);
  if (quiet) return quiet;
  return GROUPING_CHANNELS.includes(channel) ? new Date(at.getTime() + GROUP_MS) : at;
}

// jsonb has no NUL and no lone surrogate. The body is JSON already, where both are escaped.
function storable(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}
