import { queryOptions } from '@tanstack/react-query';
import type { RunComparison, Runs } from '../../../../../src/console-api/connections/run-schemas.ts';
import { read, readPages } from '../../../api.ts';
import type { ComparedRuns } from '../connection-search.ts';

function pathOf(id: string): string {
  return `/connections/${encodeURIComponent(id)}/runs`;
}

/** The runs of a connection, newest first, page by page. */
export function runsQuery(id: string, limit: number) {
  return readPages<Runs>(pathOf(id), { limit });
}

/** What differs between two runs. It never changes, except that findings expire. */
export function comparisonQuery(id: string, { from, to }: ComparedRuns) {
  return queryOptions({
    ...read<RunComparison>(`${pathOf(id)}/compare`, {
      from,
      to,
    }),
    staleTime: 300_000,
  });
}
