import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type {
  Deliveries,
  DeliveryDetail,
} from '../../../../../src/console-api/notifications/delivery-routes.ts';
import { read, readPages } from '../../../api.ts';
import type { DestinationSearch } from '../notifications-search.ts';

export type Delivery = Deliveries['items'][number];
export type Attempt = DeliveryDetail['attempts'][number];

/** A destination's deliveries, newest first. */
export function deliveriesQuery(id: number, { state, kind }: DestinationSearch) {
  return infiniteQueryOptions({
    ...readPages<Deliveries>(`/destinations/${id}/deliveries`, { state, kind, limit: 50 }),
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 1 ? false : 5_000),
  });
}

/** A delivery with its body and attempts; not kept after it was closed. */
export function deliveryQuery(id: string) {
  return queryOptions({
    ...read<DeliveryDetail>(`/deliveries/${id}`),
    queryKey: ['destinations', 'delivery', id],
    gcTime: 0,
    refetchInterval: ({ state: { data } }) => (data?.state === 'queued' ? 3_000 : false),
  });
}
