import type { ConsoleStores } from '../../store/directory/console-stores.ts';
import { readOwn } from '../../store/read.ts';

/** A person as an active member of an account. */
export interface Membership {
  account_id: number;
  member_id: number;
  name: string;
}

const select = `
  select account_id, member_id, name from member where login_id = $1 and status = 'active' order by account_id`;

/** The active memberships of a login in every store, as {@link ConsoleStores.inEach} finds them. */
export function listMemberships(stores: ConsoleStores, loginId: number): Promise<Membership[]> {
  return stores.inEach(({ reader }) => readOwn(reader, loginId, (run) => run<Membership>(select, [loginId])));
}
