import { queryOptions } from '@tanstack/react-query';
import type { Account } from '../../../src/console-api/account/account-routes.ts';
import { get } from '../api.ts';

/** The account with its plan and limits; for members with the permission account:read. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => get<Account>('/account', {}, signal),
});
