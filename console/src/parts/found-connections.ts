import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Engine } from '../../../src/vocabulary/engines.ts';
import { read } from '../api.ts';

/** Connections that a search offers. */
interface FoundConnections {
  data: { id: number; name: string; host: string }[];
}

/** The first `limit` connections, by name, with `q` in their name or host; '' = any; of an engine, or of all. */
export function foundConnectionsQuery(q: string, limit: number, engine?: Engine) {
  return queryOptions({
    ...read<FoundConnections>('/fleet', {
      q,
      sort: 'name',
      limit,
      engine,
    }),
    placeholderData: keepPreviousData,
  });
}
