import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { OwnChecks } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { get } from '../../api.ts';

export const ownChecksQuery = queryOptions({
  queryKey: ['own-checks'],
  queryFn: ({ signal }) => get<OwnChecks>('/own-checks', {}, signal),
});

/** Reads the list again after a change. */
export function useRefreshOwnChecks(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['own-checks'] });
}
