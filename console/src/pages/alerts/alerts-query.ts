import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query';
import type {
  AlertDetail,
  AlertList,
  AlertRules,
  MaintenanceList,
} from '../../../../src/console-api/alerts/alert-schemas.ts';
import { get } from '../../api.ts';

const RENEWED_MS = 30_000;

export const openAlertsQuery = queryOptions({
  queryKey: ['alerts', 'open'],
  queryFn: ({ signal }) => get<AlertList>('/alerts', { state: 'open' }, signal),
  refetchInterval: RENEWED_MS,
});

export const resolvedAlertsQuery = infiniteQueryOptions({
  queryKey: ['alerts', 'resolved'],
  queryFn: ({ pageParam, signal }) =>
    get<AlertList>('/alerts', { state: 'resolved', before: pageParam }, signal),
  initialPageParam: null as number | null,
  getNextPageParam: ({ next }) => next,
});

/** An alert with its deliveries. */
export function alertQuery(id: string) {
  return queryOptions({
    queryKey: ['alerts', 'one', id],
    queryFn: ({ signal }) => get<AlertDetail>(`/alerts/${id}`, {}, signal),
    refetchInterval: RENEWED_MS,
  });
}

export const rulesQuery = queryOptions({
  queryKey: ['alerts', 'rules'],
  queryFn: ({ signal }) => get<AlertRules>('/alert-rules', {}, signal),
});

export const maintenanceQuery = queryOptions({
  queryKey: ['alerts', 'maintenance'],
  queryFn: ({ signal }) => get<MaintenanceList>('/maintenance', {}, signal),
  refetchInterval: 60_000,
});

/** Reads everything about alerts again. */
export function useRefreshAlerts(): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['alerts'] });
}
