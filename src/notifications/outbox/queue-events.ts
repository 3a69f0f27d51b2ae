import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { one } from '../../store/one.ts';
import { GROUPING_CHANNELS } from '../../vocabulary/channels.ts';
import { DIRECTED_KINDS, type EventKind, plansWith } from '../../vocabulary/event-kinds.ts';
import type { Plan } from '../../vocabulary/plans.ts';
import type { NewEvent } from '../event.ts';
import { quietUntil } from '../maintenance/quiet-hours.ts';
import { type WantingDestination, wantingDestinations, wants } from './wanting-destination.ts';

/** How long a chat or mail waits for more events that are not critical, in milliseconds. */
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
  client: pg.ClientBase | pg.Pool,
  { accountId, at }: { accountId: number; at: string },
): Promise<Audience> {
  const { rows } = await client.query<Audience>(selectAudience, [accountId, at]);
  return one(rows, "read an account's destinations");
}

const selectTold = `
  select v.destination_id, e.ticket_id, e.alert_id
    from event e
    join delivery v on v.account_id = e.account_id and v.event_id = e.event_id
   where e.account_id = $1 and e.ticket_id = any ($2)
   union
  select v.destination_id, e.ticket_id, e.alert_id
    from event e
    join delivery v on v.account_id = e.account_id and v.event_id = e.event_id
   where e.account_id = $1 and e.alert_id = any ($3)`;

/** Who got an event about the same ticket or alert before. It is only asked if that decides. */
async function readTold(
  client: pg.ClientBase,
  accountId: number,
  events: readonly NewEvent[],
  destinations: readonly WantingDestination[],
): Promise<(destination: WantingDestination, event: NewEvent) => boolean> {
  const open = events.filter((event) =>
    destinations.some((each) => wants(each, event, true) && !wants(each, event)),
  );
  if (open.length === 0) return () => false;
  const ids = (name: 'ticketId' | 'alertId') => open.flatMap((event) => event[name] ?? []);
  const { rows } = await client.query<Record<'destination_id' | 'ticket_id' | 'alert_id', number | null>>(
    selectTold,
    [accountId, ids('ticketId'), ids('alertId')],
  );
  const key = (...parts: unknown[]) => parts.map((part) => part ?? '').join('/');
  const told = new Set(rows.map((row) => key(row.destination_id, row.ticket_id, row.alert_id)));
  return ({ destination_id }, { ticketId, alertId }) => told.has(key(destination_id, ticketId, alertId));
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
 * statement, none if nobody wants them, and one more if it matters who was told before. Call it under the lock of the account's log.
 */
export async function queueEvents(
  client: pg.ClientBase,
  { accountId, at }: { accountId: number; at: string },
  events: readonly NewEvent[],
  audience?: Audience,
): Promise<void> {
  if (events.length === 0) return;
  const { at: happened, plan, destinations } = audience ?? (await audienceOf(client, { accountId, at }));
  const allowed = events.filter(({ kind }) => plansWith(kind).includes(plan));
  const wasTold = await readTold(client, accountId, allowed, destinations);
  const sent = allowed
    .map((event) => ({
      event,
      to: destinations.filter((each) => wants(each, event, wasTold(each, event))),
    }))
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

/** When the first attempt is due. Chats and mails wait for more events, and quiet hours hold events back, unless they are critical. */
function dueAt({ channel, quiet_hours }: WantingDestination, event: NewEvent, at: Date): Date {
  const isDirect = DIRECTED_KINDS.includes(event.kind) || event.isAsked === true;
  if (isDirect || event.severity === 'critical') return at;
  const quiet = quietUntil(quiet_hours, at);
  if (quiet) return quiet;
  return GROUPING_CHANNELS.includes(channel) ? new Date(at.getTime() + GROUP_MS) : at;
}

// jsonb has no NUL and no lone surrogate. The body is JSON already, where both are escaped.
function storable(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}

/** The largest body, in bytes: Standard Webhooks recommends at most 20 kB. */
const LARGEST_BODY = 20_000;

const CUT = ' … (cut by dbvitals)';

/** A new id for an event. It is the `webhook-id` on every attempt. */
export function newEventId(): string {
  return `evt_${randomBytes(16).toString('base64url')}`;
}

/**
 * The envelope of the specification (section 6), as it is sent. Texts in `data` are cut at a character, the longest first,
 * until the body has at most 20 kB; a cut text says so.
 */
export function eventBody(kind: EventKind, at: Date, data: Readonly<Record<string, unknown>>): string {
  for (let longest = Number.POSITIVE_INFINITY; ; longest = Math.min(longest, 40_000) / 2) {
    const cut = Number.isFinite(longest) ? cutTexts(data, longest) : data;
    const body = JSON.stringify({ event: kind, timestamp: at.toISOString(), api_version: 'v1', data: cut });
    if (Buffer.byteLength(body) <= LARGEST_BODY) return body;
  }
}

/** The value with every text of more than `longest` UTF-16 units cut, never inside a character. */
function cutTexts(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return value.length <= longest ? value : `${headOf(value, longest)}${CUT}`;
  if (Array.isArray(value)) return value.map((one) => cutTexts(one, longest));
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutTexts(one, longest)]));
}

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });

function headOf(text: string, longest: number): string {
  const end = Math.floor(longest);
  const around = segments.segment(text.slice(0, end + 64)).containing(end);
  // A character of more than 64 units is no text that a reader misses.
  return text.slice(0, around ? around.index : end).toWellFormed();
}
