import { queryOptions } from '@tanstack/react-query';
import type { Keys, KeyWindows } from '../../../../src/console-api/keys/key-routes.ts';
import { get } from '../../api.ts';

/** All keys of the account; refreshed often while the service is still counting requests. */
export const apiKeysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => get<Keys>('/keys', {}, signal),
  refetchInterval: ({ state }) =>
    state.data?.data.some(({ requests_24h }) => requests_24h === null) ? 3_000 : 30_000,
});

/** The keys' requests in the current minute. */
export const windowsQuery = queryOptions({
  queryKey: ['keys', 'windows'],
  queryFn: ({ signal }) => get<KeyWindows>('/keys/windows', {}, signal),
  refetchInterval: 5_000,
});
