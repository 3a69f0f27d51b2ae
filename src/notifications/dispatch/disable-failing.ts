import type pg from 'pg';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { DestinationState } from '../destinations/destination-row.ts';
import { disableDestination } from '../destinations/disable-destination.ts';
import { queueEvents } from '../outbox/queue-events.ts';

interface DestinationKey {
  accountId: number;
  destinationId: number;
}

// Attempts within the last 5 days that lie 12 hours apart: this one and an earlier one.
const isFailing = `
  select q.failing_since::text as since
    from destination_queue q
   where q.account_id = $1
     and q.destination_id = $2
     and q.failing_since < now() - interval '5 days'
     and exists (select from delivery_attempt t
                  where t.account_id = q.account_id
                    and t.destination_id = q.destination_id
                    and t.started_at between now() - interval '5 days' and now() - interval '12 hours')`;

const selectState = `
  select state
    from destination
   where account_id = $1 and destination_id = $2 and removed_at is null`;

const selectOthers = `
  select destination_id
    from destination
   where account_id = $1 and destination_id <> $2 and removed_at is null`;

/** Disables a destination that answered 410 Gone. Returns whether this call did. */
export function disableWhenGone(writer: pg.Pool, key: DestinationKey): Promise<boolean> {
  return changeAccount(writer, key.accountId, (change) =>
    disableWithin(change, key, 'The receiver answered 410 Gone.'),
  );
}

/** Disables a destination whose settings were changed outside dbvitals. Returns whether this call did. */
export function disableWhenTampered(writer: pg.Pool, key: DestinationKey, reason: string): Promise<boolean> {
  return changeAccount(writer, key.accountId, (change) =>
    disableWithin(change, key, `${reason[0]?.toUpperCase()}${reason.slice(1)}.`),
  );
}

/** Disables a destination if every attempt of the last 5 days failed, over at least 12 hours. Returns whether this call did. */
export async function disableWhenFailing(writer: pg.Pool, key: DestinationKey): Promise<boolean> {
  const { rows } = await writer.query<{ since: string }>(isFailing, [key.accountId, key.destinationId]);
  if (rows[0] === undefined) return false;
  return changeAccount(writer, key.accountId, async (change) => {
    const again = await change.client.query(isFailing, [key.accountId, key.destinationId]);
    return again.rowCount === 1 && disableWithin(change, key, 'Every attempt of the last 5 days failed.');
  });
}

async function disableWithin(
  change: Change,
  { destinationId }: DestinationKey,
  reason: string,
): Promise<boolean> {
  const { accountId, client, at } = change;
  const { rows } = await client.query<{ state: DestinationState }>(selectState, [accountId, destinationId]);
  if (rows[0]?.state !== 'enabled') return false;
  const { name, channel } = await disableDestination(change, destinationId, reason);
  const page = PAGE_LINKS.destination(destinationId);
  const others = await client.query<{ destination_id: number }>(selectOthers, [accountId, destinationId]);
  if (others.rows.length === 0) return true;
  await queueEvents(client, { accountId, at }, [
    {
      kind: 'destination.disabled',
      severity: 'critical', // not held back in quiet hours
      connection: null,
      destinationIds: others.rows.map(({ destination_id }) => destination_id),
      data: { destination_id: destinationId, name, channel, reason, disabled_at: new Date(at).toISOString() },
      details: {
        connection: null,
        title: `The destination ${name} was disabled`,
        check_id: null,
        database: '',
        object: null,
        metric_line: reason,
        measured: null,
        since: null,
        resolution: null,
        page,
        remediation: 'Fix the receiver, then enable the destination and send what was missed.',
      },
    },
  ]);
  return true;
}
