import type { Change } from '../../activity/record-entry.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { cancelQueued } from './cancel-queued.ts';
import { type DestinationRow, destinationWithin, propertiesOf } from './destination-row.ts';
import { removeRecipients } from './store-recipients.ts';

const remove = `
  with unscheduled as (
    update destination_queue set digest_due_at = null where account_id = $1 and destination_id = $2
  )
  update destination
     set removed_at = $3, encrypted = null
   where account_id = $1 and destination_id = $2`;

/**
 * Removes a destination: its secrets are deleted, and what is queued for it is cancelled. Returns it as it was. Throws a
 * `NoDestination`.
 */
export async function removeDestination(change: Change, destinationId: number): Promise<DestinationRow> {
  const { accountId, client, at, record } = change;
  const destination = await destinationWithin(change, destinationId);
  await client.query(remove, [accountId, destinationId, at]);
  const cancelled = await cancelQueued(change, destinationId, 'The destination was removed.');
  await removeRecipients(change, destinationId);
  record('destination_removed', PAGE_LINKS.destination(destinationId), {
    ...propertiesOf(destination),
    cancelled,
  });
  return destination;
}
