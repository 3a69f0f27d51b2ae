import { queryOptions } from '@tanstack/react-query';
import type { Collectors } from '../../../src/console-api/collectors/collector-routes.ts';
import { get } from '../api.ts';

export const collectorsQuery = queryOptions({
  queryKey: ['collectors'],
  queryFn: ({ signal }) => get<Collectors>('/collectors', {}, signal),
  refetchInterval: 10_000,
});
