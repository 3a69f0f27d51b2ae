import { queryOptions } from '@tanstack/react-query';
import type { Collectors } from '../../../src/console-api/collectors/collector-routes.ts';
import { read } from '../api.ts';

export const collectorsQuery = queryOptions({
  ...read<Collectors>('/collectors'),
  refetchInterval: 10_000,
});
