import { queryOptions } from '@tanstack/react-query';
import type { Destinations } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { get } from '../../api.ts';

/** The account's destinations; refreshed often, because their health is shown. */
export const destinationsQuery = queryOptions({
  queryKey: ['destinations'],
  queryFn: ({ signal }) => get<Destinations>('/destinations', {}, signal),
  refetchInterval: 5_000,
});
