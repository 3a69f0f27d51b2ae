import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { ConnectionDetail } from '../../../../src/console/connections/connections.ts';
import type { Silence } from '../../../../src/console/connections/silences.ts';
import { get } from '../../api.ts';

/** How often the page looks again. */
const RENEWED_EVERY_MS = 30_000;

/** A connection with its latest check; `id` is what the address says. */
export function connectionQuery(id: string) {
  return queryOptions({
    queryKey: ['connections', id],
    queryFn: ({ signal }) => get<ConnectionDetail>(`/connections/${encodeURIComponent(id)}`, {}, signal),
    refetchInterval: RENEWED_EVERY_MS,
  });
}

/** Its silences that are in force. */
export function silencesQuery(id: string) {
  return queryOptions({
    queryKey: ['connections', id, 'silences'],
    queryFn: ({ signal }) =>
      get<{ data: Silence[] }>(`/connections/${encodeURIComponent(id)}/silences`, {}, signal),
  });
}

/** What shows connections or their tickets is read anew. */
export function useRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(
      ['connections', 'fleet', 'tickets'].map((thing) => queries.invalidateQueries({ queryKey: [thing] })),
    );
  };
}
