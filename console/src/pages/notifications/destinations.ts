import { queryOptions } from '@tanstack/react-query';
import type { Destinations } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { read } from '../../api.ts';

/** The account's destinations; refreshed often, because their health is shown. */
export const destinationsQuery = queryOptions({
  ...read<Destinations>('/destinations'),
  refetchInterval: 5_000,
});
