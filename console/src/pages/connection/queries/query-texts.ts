import { useQuery } from '@tanstack/react-query';
import type { ConnectionSettings } from '../../../../../src/console-api/connections/connection-schemas.ts';
import type { QueryTexts } from '../../../../../src/console-api/queries/query-schemas.ts';
import { send } from '../../../api.ts';
import { useCan } from '../../../shell/profile.ts';

/**
 * The stored texts of queries, by id; none if the member may not read them. The service records each reading, so these are
 * read once.
 */
export function useQueryTexts(
  { id, query_texts }: Pick<ConnectionSettings, 'id' | 'query_texts'>,
  queries: readonly string[],
) {
  const can = useCan();
  const ids = [...new Set(queries)].sort();
  return useQuery({
    queryKey: ['query-texts', id, query_texts, ids],
    queryFn: async () => {
      const { texts } = await send<QueryTexts>('POST', `/connections/${id}/queries/texts`, { queries: ids });
      return new Map(texts.map(({ query, text }) => [query, text]));
    },
    enabled: query_texts && can('connections:write') && ids.length > 0,
    placeholderData: (shown) => (query_texts ? shown : undefined),
    retry: false,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
}
