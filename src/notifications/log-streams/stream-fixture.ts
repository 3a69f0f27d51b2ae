import type { TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { firstRow } from '../dispatch/dispatcher-fixture.ts';

/** Each has characters that a careless format breaks at. */
const ENTRY = { connection_id: 1, name: 'shop "}{\n é', added: [], removed: [] };

/** Writes entries into the log of an account, and returns the id of the newest one. */
export async function writeEntries(
  store: TestStore,
  accountId: number,
  count: number,
  given: Partial<typeof ENTRY> = {},
): Promise<number> {
  await changeAccount(store.writer, accountId, async ({ record }) => {
    for (let n = 0; n < count; n += 1) record('connection_tagged', '/c', { ...ENTRY, ...given });
  });
  return await readNewestId(store, accountId);
}

/** The id of the newest entry of an account. */
export async function readNewestId(store: TestStore, accountId: number): Promise<number> {
  const head = 'select last_id::int as id from activity_head where account_id = $1';
  return (await firstRow<{ id: number }>(store, head, [accountId])).id;
}

/** Waits until a stream has delivered the entry of this id and all before it. */
export async function waitForDelivery(store: TestStore, streamId: number, entryId: number): Promise<void> {
  const delivered = 'select 1 as there from log_stream where destination_id = $1 and next_id > $2';
  await firstRow(store, delivered, [streamId, entryId]);
}

/** Waits until the last attempt of a stream failed with a result that is like this. */
export async function waitForFailure(store: TestStore, streamId: number, like: string): Promise<void> {
  const failed = `
    select 1 as there from destination_queue
     where destination_id = $1 and last_result like $2 and failing_since is not null`;
  await firstRow(store, failed, [streamId, like]);
}

/** Lets a stream try now what it would try later. */
export async function tryAgain(store: TestStore, streamId: number): Promise<void> {
  await store.writer.query('update log_stream set due_at = now() where destination_id = $1', [streamId]);
}

/** The ids of a log that has entries up to this one. */
export const idsUpTo = (newest: number) => Array.from({ length: newest }, (_, at) => at + 1);
