import { addAccount } from '../../src/accounts/add-account.ts';
import { changeAccount } from '../../src/activity/record-entry.ts';
import { disableDestination } from '../../src/notifications/destinations/disable-destination.ts';
import { addTo } from '../../src/notifications/dispatch/dispatcher-fixture.ts';
import { sealAndPrune } from '../../src/service/retention-fixture.ts';
import type { Scene } from './scene.ts';

const DAYS = 7;

/** Retention deletes entries that a log stream had not delivered, in an account of its own, whose id it returns. */
export async function deleteOldEntries({ store, owner, receiver }: Scene): Promise<number> {
  const account = { name: 'Old', kind: 'company', plan: 'enterprise', requests_per_minute: null } as const;
  const { id: accountId } = await addAccount(store.writer, account);
  const url = `${receiver.url}/fail-stream`;
  const streamId = await addTo(store, accountId, {
    name: 'SIEM',
    channel: 'log_http',
    url,
    stream: { fromId: 1 },
  });
  await changeAccount(store.writer, accountId, (change) => disableDestination(change, streamId, 'Test.'));
  const older = `update activity set occurred_at = occurred_at - interval '30 days' where account_id = $1`;
  await owner.query(older, [accountId]);
  // The first round seals the entries, and the second releases them.
  await sealAndPrune(store, owner, DAYS);
  await sealAndPrune(store, owner, DAYS);
  const warned = `update log_stream set warned_at = warned_at - interval '8 days' where account_id = $1`;
  await owner.query(warned, [accountId]);
  await sealAndPrune(store, owner, DAYS);
  return accountId;
}
