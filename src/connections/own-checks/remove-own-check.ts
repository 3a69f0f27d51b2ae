import type { Change } from '../../activity/record-entry.ts';
import { findingId } from '../../checks/own/own-check.ts';
import { Rejection } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { listOwnChecks, type StoredOwnCheck } from './list-own-checks.ts';
import { storeOwnCheckChanges } from './own-check-changes.ts';
import { OWN_CHECKS_PAGE } from './set-own-check.ts';

const remove = 'delete from own_check where account_id = $1 and id = $2';

/** Removes an own check. The next run of each of its connections resolves its tickets. Throws a {@link Rejection}. */
export async function removeOwnCheck(
  change: Change,
  id: string,
  actor: Record<string, unknown> = {},
): Promise<StoredOwnCheck> {
  const { accountId, client, record } = change;
  const stored = await listOwnChecks(within(client), accountId);
  const own = stored.find((one) => one.id === id);
  if (!own)
    throw new Rejection('not_found', 'The account has no own check of this id: see "check own list".');
  await client.query(remove, [accountId, id]);
  record('own_check_removed', OWN_CHECKS_PAGE, { check_id: findingId(id), title: own.title, ...actor });
  await storeOwnCheckChanges(change, own, null);
  return own;
}
