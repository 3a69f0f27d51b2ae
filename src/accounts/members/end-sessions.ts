import type { Change } from '../../activity/record-entry.ts';
import { controlOf } from '../../store/cells/control-store.ts';

const end = 'delete from session where login_id = $1 and account_id = $2';

/** Ends a login's sessions in the account, so that none comes back to life with its member. */
export async function endSessionsHere({ client, accountId }: Change, loginId: number | null): Promise<void> {
  if (loginId !== null) await (await controlOf(client)).query(end, [loginId, accountId]);
}
