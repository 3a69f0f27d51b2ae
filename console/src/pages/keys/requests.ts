import { queryOptions } from '@tanstack/react-query';
import type { Keys, KeyWindows } from '../../../../src/console-api/keys/key-routes.ts';
import { read } from '../../api.ts';

/** All keys of the account; refreshed often while the service is still counting requests. */
export const apiKeysQuery = queryOptions({
  ...read<Keys>('/keys'),
  refetchInterval: ({ state }) =>
    state.data?.data.some(({ requests_24h }) => requests_24h === null) ? 3_000 : 30_000,
});

/** The keys' requests in the current minute. */
export const windowsQuery = queryOptions({
  ...read<KeyWindows>('/keys/windows'),
  refetchInterval: 5_000,
});
