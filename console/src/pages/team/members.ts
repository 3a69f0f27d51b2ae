import type { Members } from '../../../../src/console-api/members/member-routes.ts';
import { read } from '../../api.ts';

/** All members of the account. */
export const membersQuery = read<Members>('/members');
