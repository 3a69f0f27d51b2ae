import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { Profile } from '../../../src/console-api/sign-in/profile.ts';
import { get } from '../api.ts';
import { setClock } from '../parts/time.tsx';

export type { Profile };

export const profileQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    const profile = await get<Profile>('/me', {}, signal);
    setClock(profile.server_time);
    return profile;
  },
  staleTime: 60_000,
});

/** The signed-in person. Use only below the shell, which waits for it. */
export function useProfile(): Profile {
  return useSuspenseQuery(profileQuery).data;
}

/** Whether the member may do something, such as `keys:write`. */
export function useCan(): (permission: string) => boolean {
  const { permissions } = useProfile();
  return (permission) => permissions.includes(permission);
}
