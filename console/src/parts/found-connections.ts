import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { get } from '../api.ts';

/** Connections that a search offers. */
interface FoundConnections {
  data: { id: number; name: string; host: string }[];
}

/** The first `limit` connections, by name, with `q` in their name or host; '' = any. */
export function foundConnectionsQuery(q: string, limit: number) {
  return queryOptions({
    queryKey: ['fleet', 'found', q, limit],
    queryFn: ({ signal }) => get<FoundConnections>('/fleet', { q, sort: 'name', limit }, signal),
    placeholderData: keepPreviousData,
  });
}
