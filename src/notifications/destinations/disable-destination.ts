import type { Change } from '../../activity/record-entry.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { type DestinationRow, destinationWithin, propertiesOf } from './destination-row.ts';

const disable = `
  update destination
     set state = 'disabled', state_reason = $3, state_since = $4
   where account_id = $1 and destination_id = $2 and state <> 'disabled'`;

/**
 * Disables a destination; what happens meanwhile is queued, and sent or skipped when it is enabled. A disabled one stays as
 * it is, without a log entry. Throws a `NoDestination`.
 */
export async function disableDestination(
  change: Change,
  destinationId: number,
  reason: string,
): Promise<DestinationRow> {
  const { accountId, client, at, record } = change;
  await destinationWithin(change, destinationId);
  const { rowCount } = await client.query(disable, [accountId, destinationId, reason, at]);
  const destination = await destinationWithin(change, destinationId);
  if (rowCount === 1)
    record('destination_disabled', PAGE_LINKS.destination(destinationId), {
      ...propertiesOf(destination),
      reason,
    });
  return destination;
}
