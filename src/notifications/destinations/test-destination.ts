import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { conflict, notFound, Rejection } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { type Read, within } from '../../store/read.ts';
import { GROUPING_CHANNELS } from '../../vocabulary/channels.ts';
import { DIRECTED_KINDS } from '../../vocabulary/event-kinds.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { digestEvent } from '../digest/digest-event.ts';
import { previousDigest } from '../digest/digest-schedule.ts';
import { readDigest } from '../digest/read-digest.ts';
import type { NewEvent } from '../event.ts';
import { audienceOf, queueEvents } from '../outbox/queue-events.ts';
import { type DestinationRow, destinationWithin } from './destination-row.ts';

/** The most messages that an account sends by hand in a minute. */
const MOST_TESTS = 10;

/** How long a test waits for the answer, in milliseconds: longer than an attempt may take. */
const PATIENCE_MS = 20_000;
const POLL_MS = 200;
const WEEK_MS = 7 * 86_400_000;

/** How to send by hand. */
interface SendOptions {
  /** How long to wait for the answer, in milliseconds. */
  patience?: number;
  /** Reads what the message tells; default: by the pool. */
  read?: <T>(work: (read: Read) => Promise<T>) => Promise<T>;
}

/** How a message ended that somebody sent by hand. */
export interface TestResult {
  /** Null = no service has sent it yet. */
  accepted: boolean | null;
  /** The HTTP or SMTP status; null = no answer. */
  status: number | null;
  /** In one sentence. */
  result: string;
  response: string;
  milliseconds: number;
}

const countTests = `
  select count(*)::int as tests, ceil(extract(epoch from min(occurred_at) + interval '1 minute' - $2::timestamptz))::int as wait
    from event
   where account_id = $1 and kind = any($3) and occurred_at > $2::timestamptz - interval '1 minute'`;

const selectQueued = `
  select d.delivery_id
    from delivery d
    join destination_queue q on q.account_id = d.account_id and q.destination_id = d.destination_id
     and q.epoch = d.epoch and q.last_sequence = d.sequence
   where d.account_id = $1 and d.destination_id = $2`;

const selectAttempt = `
  select status, result, response, milliseconds
    from delivery_attempt
   where account_id = $1 and destination_id = $2 and delivery_id = $3
   order by attempt
   limit 1`;

/**
 * Sends a test message to a destination, whatever kinds it chose, and waits up to 20 s for the answer. A service that shares
 * the store sends it. Throws a {@link Rejection} after 10 tests of the account in a minute, and a `NoDestination`.
 */
export async function testDestination(
  change: ChangeAccount,
  reader: pg.Pool,
  destinationId: number,
  { patience = PATIENCE_MS }: SendOptions = {},
): Promise<TestResult> {
  return sendAndWait(change, reader, { destinationId, patience }, testEvent);
}

/**
 * Sends a destination the digest of the time since its last one, or of a week, now, as {@link testDestination} sends a test. Its
 * schedule stays. Throws a {@link Rejection}.
 *
 * The digest is composed between two changes, so that the account's requests do not wait for it.
 */
export async function sendDigest(
  change: ChangeAccount,
  reader: pg.Pool,
  destinationId: number,
  { patience = PATIENCE_MS, read = (work) => work(within(reader)) }: SendOptions = {},
): Promise<TestResult> {
  const { accountId, destination } = await change(async (made) => {
    const row = await requireSendable(made, destinationId);
    requireDigestChannel(row);
    return { accountId: made.accountId, destination: row };
  });
  const { digest: schedule, connections } = destination;
  const now = new Date();
  const from = schedule ? previousDigest(schedule, now) : new Date(now.getTime() - WEEK_MS);
  const scope = { connection_ids: connections.ids, connection_names: connections.names };
  const digest = await read((run) => readDigest(run, accountId, from, scope));
  if (digest === null) throw notFound('account', accountId);
  const event = digestEvent(digest, schedule?.time_zone ?? 'UTC', destinationId);
  return sendAndWait(change, reader, { destinationId, patience }, () => event);
}

function requireDigestChannel({ channel }: DestinationRow): void {
  if (!GROUPING_CHANNELS.includes(channel))
    throw conflict(null, `The channel ${channel} takes no digest: choose ${GROUPING_CHANNELS.join(', ')}.`);
}

type MakeEvent = (destination: DestinationRow) => NewEvent;

async function sendAndWait(
  change: ChangeAccount,
  reader: pg.Pool,
  { destinationId, patience }: { destinationId: number; patience: number },
  make: MakeEvent,
): Promise<TestResult> {
  const { accountId, deliveryId } = await change((made) => queueByHand(made, destinationId, make));
  const until = Date.now() + patience;
  do {
    await wait(POLL_MS);
    const { rows } = await reader.query<Omit<TestResult, 'accepted'>>(selectAttempt, [
      accountId,
      destinationId,
      deliveryId,
    ]);
    const [attempt] = rows;
    if (attempt)
      return { accepted: await isAccepted(reader, accountId, destinationId, deliveryId), ...attempt };
  } while (Date.now() < until);
  return {
    accepted: null,
    status: null,
    response: '',
    milliseconds: patience,
    result: `Nothing sent the message within ${patience / 1_000} seconds: check that "dbvitals serve" runs on this store.`,
  };
}

/** The destination, if a message can be sent to it by hand. Throws a {@link Rejection}. */
async function requireSendable(change: Change, destinationId: number): Promise<DestinationRow> {
  const { accountId, client, at } = change;
  const destination = await destinationWithin(change, destinationId);
  const { channel, state, recipients } = destination;
  if (state !== 'enabled') throw conflict(null, `The destination is ${state}: enable it first.`);
  if (channel === 'email' && !recipients.some((recipient) => recipient.state === 'confirmed'))
    throw conflict(
      null,
      'No recipient has confirmed yet: ask them to follow the link in the message that they got.',
    );
  const [{ tests, wait: seconds } = { tests: 0, wait: 0 }] = (
    await client.query<{ tests: number; wait: number | null }>(countTests, [accountId, at, DIRECTED_KINDS])
  ).rows;
  const retryAfter = Math.min(Math.max(seconds ?? 1, 1), 60); // the clock may have stepped back
  if (tests >= MOST_TESTS)
    throw new Rejection(
      'too_many_attempts',
      `An account can send ${MOST_TESTS} messages a minute by hand: try again in ${retryAfter} seconds.`,
      { retryAfter },
    );
  return destination;
}

async function queueByHand(change: Change, destinationId: number, make: MakeEvent) {
  const { accountId, client, at } = change;
  const destination = await requireSendable(change, destinationId);
  const wanting = {
    destination_id: destinationId,
    channel: destination.channel,
    kinds: [],
    minimum_severity: null,
    connection_ids: null,
    connection_names: null,
    quiet_hours: null,
  };
  const audience = { ...(await audienceOf(client, { accountId, at })), destinations: [wanting] };
  await queueEvents(client, { accountId, at }, [make(destination)], audience);
  const queued = await client.query<{ delivery_id: number }>(selectQueued, [accountId, destinationId]);
  return { accountId, deliveryId: one(queued.rows, 'queue a message').delivery_id };
}

function testEvent({ id: destinationId, name }: DestinationRow): NewEvent {
  return {
    kind: 'test',
    severity: null,
    connection: null,
    destinationIds: [destinationId],
    data: { destination_id: destinationId, name, message: `dbvitals can send to the destination “${name}”.` },
    details: {
      connection: null,
      title: 'Test message',
      check_id: null,
      database: '',
      object: null,
      metric_line: null,
      measured: null,
      since: null,
      remediation: null,
      resolution: null,
      page: PAGE_LINKS.destination(destinationId),
    },
  };
}

const selectState = `
  select state = 'accepted' as accepted
    from delivery
   where account_id = $1 and destination_id = $2 and delivery_id = $3`;

async function isAccepted(reader: pg.Pool, ...ids: [number, number, number]): Promise<boolean> {
  const { rows } = await reader.query<{ accepted: boolean }>(selectState, ids);
  return rows[0]?.accepted ?? false;
}
