import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Onboarding } from '../../../src/console-api/onboarding/onboarding-routes.ts';
import { read, send } from '../api.ts';

export type { Onboarding };

/** The first steps, and how much of the account is sample data. Refreshed until all is done, so that steps tick themselves. */
export const onboardingQuery = queryOptions({
  ...read<Onboarding>('/onboarding'),
  refetchInterval: ({ state: { data } }) => (data && isListed(data) ? 10_000 : false),
});

/** Whether there are steps to show. */
export function isListed({ dismissed, steps }: Onboarding): boolean {
  return !dismissed && steps.some(({ done }) => !done);
}

/** Ticks the step of reading a finding when it is shown. */
export function useFindingRead(): void {
  const { data } = useQuery(onboardingQuery);
  const queries = useQueryClient();
  const isNew = data?.steps.some(({ id, done }) => id === 'finding' && !done) === true;
  useEffect(() => {
    if (!isNew) return;
    send('PATCH', '/onboarding', { finding_read: true }).then(
      () => queries.invalidateQueries(onboardingQuery),
      () => {}, // the next finding tries again
    );
  }, [isNew, queries]);
}
