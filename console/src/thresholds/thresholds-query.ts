import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AccountSilences } from '../../../src/console-api/thresholds/silence-list.ts';
import type { OwnThresholds, ThresholdList } from '../../../src/console-api/thresholds/threshold-schemas.ts';
import { get } from '../api.ts';

export const thresholdsQuery = queryOptions({
  queryKey: ['thresholds', 'all'],
  queryFn: ({ signal }) => get<ThresholdList>('/thresholds', {}, signal),
});

/** The connections that set thresholds of a check themselves. */
export function ownThresholdsQuery(check: string) {
  return queryOptions({
    queryKey: ['thresholds', 'own', check],
    queryFn: ({ signal }) => get<OwnThresholds>('/thresholds/connections', { check }, signal),
  });
}

export const silencesQuery = queryOptions({
  queryKey: ['silences', 'account'],
  queryFn: ({ signal }) => get<AccountSilences>('/silences', {}, signal),
});

/** Reads what a change of thresholds or silences may have changed again. */
export function useRefreshThresholds(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(
      ['thresholds', 'silences', 'connections', 'fleet', 'tickets'].map((key) =>
        queries.invalidateQueries({ queryKey: [key] }),
      ),
    );
  };
}
