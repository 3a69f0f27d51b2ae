import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type {
  Deliveries,
  DeliveryDetail,
} from '../../../../../src/console-api/notifications/delivery-routes.ts';
import { get } from '../../../api.ts';
import type { DestinationSearch } from '../notifications-search.ts';

export type Delivery = Deliveries['items'][number];
export type Attempt = DeliveryDetail['attempts'][number];

/** A destination's deliveries, newest first. */
export function deliveriesQuery(id: number, { state, kind }: DestinationSearch) {
  return infiniteQueryOptions({
    queryKey: ['destinations', id, 'deliveries', state ?? '', kind ?? ''],
    queryFn: ({ signal, pageParam }) =>
      get<Deliveries>(
        `/destinations/${id}/deliveries`,
        { state, kind, before: pageParam, limit: 50 },
        signal,
      ),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) > 1 ? false : 5_000),
  });
}

/** A delivery with its body and attempts; not kept after it was closed. */
export function deliveryQuery(id: string) {
  return queryOptions({
    queryKey: ['destinations', 'delivery', id],
    queryFn: ({ signal }) => get<DeliveryDetail>(`/deliveries/${id}`, {}, signal),
    gcTime: 0,
    refetchInterval: ({ state: { data } }) => (data?.state === 'queued' ? 3_000 : false),
  });
}
