import type { Change } from '../../activity/record-entry.ts';
import { conflict, invalidParameter, notFound } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { destinationWithin } from '../destinations/destination-row.ts';
import { readDelivery } from './read-delivery.ts';
import { type ResendRange, resendDelivery, resendRange } from './resend.ts';

/**
 * Sends a delivery that ended again; with `of` only one of that destination. Returns the new delivery's id. Throws a
 * `notFound` or a {@link Rejection}.
 */
export async function resendOneDelivery(
  { client, accountId }: Change,
  deliveryId: number,
  of: number | null = null,
): Promise<number> {
  const { destination_id: destinationId, state } = await readDelivery(within(client), accountId, deliveryId);
  if (of !== null && of !== destinationId)
    throw notFound('delivery', deliveryId, '. Deliveries are kept for 30 days.');
  await destinationWithin({ client, accountId }, destinationId);
  const id =
    state === 'queued' ? null : await resendDelivery(client, { accountId, destinationId, deliveryId });
  if (id === null) throw conflict(null, 'This event is queued for the destination already.');
  return id;
}

/**
 * Sends the deliveries of a destination again that were queued in a range and ended in one of the states. Returns how many.
 * Throws a {@link Rejection} or a `NoDestination`.
 */
export async function resendDeliveries(
  { client, accountId }: Change,
  destinationId: number,
  { from, to, states }: Pick<ResendRange, 'from' | 'to' | 'states'>,
): Promise<number> {
  await destinationWithin({ client, accountId }, destinationId);
  if (from > to) throw invalidParameter('from', 'The range must start before it ends.');
  return resendRange(client, { accountId, destinationId, from, to, states });
}
