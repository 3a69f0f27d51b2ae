import { queryOptions } from '@tanstack/react-query';
import type {
  AlertDetail,
  AlertList,
  AlertRules,
  MaintenanceList,
} from '../../../../src/console-api/alerts/alert-schemas.ts';
import { read, readPages } from '../../api.ts';

const RENEWED_MS = 30_000;

export const openAlertsQuery = queryOptions({
  ...read<AlertList>('/alerts', { state: 'open' }),
  refetchInterval: RENEWED_MS,
});

export const resolvedAlertsQuery = readPages<AlertList>('/alerts', { state: 'resolved' });

/** An alert with its deliveries. */
export function alertQuery(id: string) {
  return queryOptions({
    ...read<AlertDetail>(`/alerts/${id}`),
    refetchInterval: RENEWED_MS,
  });
}

export const rulesQuery = { ...read<AlertRules>('/alert-rules'), queryKey: ['alerts', 'rules'] };

export const maintenanceQuery = queryOptions({
  ...read<MaintenanceList>('/maintenance'),
  queryKey: ['alerts', 'maintenance'],
  refetchInterval: 60_000,
});
