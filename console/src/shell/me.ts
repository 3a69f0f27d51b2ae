import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { Me } from '../../../src/console/profile.ts';
import { get } from '../api.ts';
import { setClock } from '../parts/time.tsx';

export type { Me };

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    const me = await get<Me>('/me', {}, signal);
    setClock(me.server_time);
    return me;
  },
  staleTime: 60_000,
});

/** Who is signed in; only below the shell, which waits for it. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

/** Whether the member may do something, such as `keys:write`. */
export function useCan(): (permission: string) => boolean {
  const { permissions } = useMe();
  return (permission) => permissions.includes(permission);
}
