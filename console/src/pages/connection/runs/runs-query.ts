import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { RunComparison, Runs } from '../../../../../src/console-api/connections/run-schemas.ts';
import { get } from '../../../api.ts';
import type { ComparedRuns } from '../connection-search.ts';

const PER_PAGE = 25;

function pathOf(id: string): string {
  return `/connections/${encodeURIComponent(id)}/runs`;
}

/** The runs of a connection, newest first, page by page. */
export function runsQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['connections', id, 'runs'],
    queryFn: ({ pageParam, signal }) => get<Runs>(pathOf(id), { before: pageParam, limit: PER_PAGE }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
  });
}

/** What differs between two runs. It never changes, except that findings expire. */
export function comparisonQuery(id: string, { from, to }: ComparedRuns) {
  return queryOptions({
    queryKey: ['connections', id, 'compared-runs', from, to],
    queryFn: ({ signal }) => get<RunComparison>(`${pathOf(id)}/compare`, { from, to }, signal),
    staleTime: 300_000,
  });
}
