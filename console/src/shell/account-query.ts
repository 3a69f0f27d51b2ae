import type { Account } from '../../../src/console-api/account/account-routes.ts';
import { read } from '../api.ts';

/** The account with its plan and limits; for members with the permission account:read. */
export const accountQuery = read<Account>('/account');
