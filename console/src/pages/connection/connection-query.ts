import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { BackupList } from '../../../../src/console-api/connections/backup-routes.ts';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import type { Silence } from '../../../../src/console-api/connections/silences.ts';
import { get } from '../../api.ts';

/** How often the page refreshes. */
const RENEWED_EVERY_MS = 30_000;

/** A connection with its latest check; `id` comes from the URL. */
export function connectionQuery(id: string) {
  return queryOptions({
    queryKey: ['connections', id],
    queryFn: ({ signal }) => get<ConnectionDetail>(`/connections/${encodeURIComponent(id)}`, {}, signal),
    refetchInterval: RENEWED_EVERY_MS,
  });
}

/** Its active silences. */
export function silencesQuery(id: string) {
  return queryOptions({
    queryKey: ['connections', id, 'silences'],
    queryFn: ({ signal }) =>
      get<{ data: Silence[] }>(`/connections/${encodeURIComponent(id)}/silences`, {}, signal),
  });
}

/** What was reported of its backups. */
export function backupsQuery(id: string) {
  return queryOptions({
    queryKey: ['connections', id, 'backups'],
    queryFn: ({ signal }) => get<BackupList>(`/connections/${encodeURIComponent(id)}/backups`, {}, signal),
  });
}

/** Refreshes everything that shows connections, or their tickets, silences or thresholds. */
export function useRefresh(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(
      ['connections', 'fleet', 'tickets', 'silences', 'thresholds'].map((key) =>
        queries.invalidateQueries({ queryKey: [key] }),
      ),
    );
  };
}
