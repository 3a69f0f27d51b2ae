import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { cancelQueued } from '../destinations/cancel-queued.ts';
import { type DestinationRow, destinationWithin, propertiesOf } from '../destinations/destination-row.ts';
import { changeStream } from '../log-streams/store-stream.ts';
import { resendRange } from './resend.ts';

/** What becomes of what was queued while the destination was disabled or paused. */
export const MISSED = ['send', 'skip'] as const;
export type Missed = (typeof MISSED)[number];

const enable = `
  update destination
     set state = 'enabled', state_reason = null, state_since = $3
   where account_id = $1 and destination_id = $2`;

const lockQueue = `
  select
    from destination_queue
   where account_id = $1 and destination_id = $2
     for update`;

// The dispatcher replaces due_at by the time of the first queued delivery, or by null.
const resume = `
  update destination_queue
     set due_at = $3, failing_since = null
   where account_id = $1 and destination_id = $2`;

// What waits for a later attempt is tried at once.
const hasten = `
  update delivery
     set due_at = $3
   where account_id = $1 and destination_id = $2 and state = 'queued'`;

/** Enables a destination and sends, or skips, what it missed. Throws a `NoDestination`, or a {@link Rejection} if it is enabled. */
export async function enableDestination(
  change: Change,
  destinationId: number,
  missed: Missed,
): Promise<DestinationRow> {
  const { accountId, client, at, record } = change;
  const ids = [accountId, destinationId];
  const before = await destinationWithin(change, destinationId);
  if (before.state === 'enabled')
    throw new Rejection(
      'conflict',
      `Destination ${destinationId} is enabled already: there is nothing to do.`,
    );
  await client.query(enable, [...ids, at]);
  await client.query(lockQueue, ids);
  const count =
    missed === 'send'
      ? before.queue.queued + (await sendMissed(change, before))
      : await cancelQueued(change, destinationId, 'Skipped when the destination was enabled.');
  await client.query(resume, [...ids, at]);
  if (before.stream) {
    const isSkipped = missed === 'skip';
    await changeStream(change, destinationId, isSkipped ? { fromId: Number.MAX_SAFE_INTEGER } : {});
  }
  const destination = await destinationWithin(change, destinationId);
  record('destination_enabled', PAGE_LINKS.destination(destinationId), {
    ...propertiesOf(destination),
    was: before.state,
    [missed === 'send' ? 'sent' : 'skipped']: count,
  });
  return destination;
}

/** Also what was given up while every attempt failed. Returns how many of those. */
async function sendMissed({ accountId, client, at }: Change, before: DestinationRow): Promise<number> {
  const { failing_since: from } = before.queue;
  await client.query(hasten, [accountId, before.id, at]);
  if (from === null) return 0;
  return resendRange(client, {
    accountId,
    destinationId: before.id,
    from,
    to: new Date(),
    states: ['given_up'],
  });
}

const selectOff = `
  select destination_id as id
    from destination
   where account_id = $1 and state <> 'enabled' and removed_at is null
   order by destination_id`;

/** {@link enableDestination} for every destination of the account that is disabled or paused. */
export async function enableAllDestinations(change: Change, missed: Missed): Promise<DestinationRow[]> {
  const { rows } = await change.client.query<{ id: number }>(selectOff, [change.accountId]);
  const enabled: DestinationRow[] = [];
  for (const { id } of rows) enabled.push(await enableDestination(change, id, missed));
  return enabled;
}
