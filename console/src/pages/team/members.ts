import { queryOptions } from '@tanstack/react-query';
import type { Members } from '../../../../src/console-api/members/member-routes.ts';
import { get } from '../../api.ts';

/** All members of the account. */
export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) => get<Members>('/members', {}, signal),
});
