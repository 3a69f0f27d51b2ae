import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ConnectionSearch, connectionSearch } from './connection-search.ts';

/** The page's search parameters, and a function that changes some of them; what it sets to undefined is removed. */
export function useConnectionSearch() {
  const search = useSearch({ from: '/in/connections/$id' });
  const navigate = useNavigate({ from: '/connections/$id' });
  const change = (changed: { [Name in keyof ConnectionSearch]?: string | undefined }) =>
    void navigate({
      search: (old) => connectionSearch({ ...old, ...changed }),
      replace: true,
      resetScroll: false,
    });
  return [search, change] as const;
}
