import { queryOptions } from '@tanstack/react-query';
import type { BackupList } from '../../../../src/console-api/connections/backup-routes.ts';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import type { Silence } from '../../../../src/console-api/connections/silences.ts';
import { read } from '../../api.ts';

/** How often the page refreshes. */
const RENEWED_EVERY_MS = 30_000;

/** A connection with its latest check; `id` comes from the URL. */
export function connectionQuery(id: string) {
  return queryOptions({
    ...read<ConnectionDetail>(`/connections/${encodeURIComponent(id)}`),
    refetchInterval: RENEWED_EVERY_MS,
  });
}

/** Its active silences. */
export function silencesQuery(id: string) {
  return read<{ data: Silence[] }>(`/connections/${encodeURIComponent(id)}/silences`);
}

/** What was reported of its backups. */
export function backupsQuery(id: string) {
  return read<BackupList>(`/connections/${encodeURIComponent(id)}/backups`);
}
