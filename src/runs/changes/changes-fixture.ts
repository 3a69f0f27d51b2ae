import type { TestStore } from '../../../test/support/store.ts';
import { type Key, runOnce } from '../../monitor/run-fixture.ts';
import type { ConnectionChange } from './connection-change.ts';
import { listChanges } from './list-changes.ts';

/** What every change has that is listed by {@link found}. */
export const NOTHING = { database: '', before: null, after: null, source: null };

const all = { from: new Date(0), to: new Date('2100-01-01'), limit: 1_000 };

/** The changes besides findings, oldest first. */
export async function changesOf(
  { writer }: TestStore,
  { accountId, connectionId }: Key,
): Promise<ConnectionChange[]> {
  const read = async <Row>(statement: string, values: unknown[]) =>
    (await writer.query(statement, values)).rows as Row[];
  const listed = await listChanges(read, accountId, connectionId, all);
  return listed.filter(({ kind }) => kind !== 'finding').toReversed();
}

/** What changed on the server by `work`, as a run an hour later finds it. */
export async function found(
  store: TestStore,
  key: Key,
  work: () => Promise<unknown>,
): Promise<Omit<ConnectionChange, 'id' | 'at'>[]> {
  const before = await changesOf(store, key);
  await work();
  // Schemas are read once an hour.
  await store.writer.query(`update fact_snapshot set read_at = read_at - interval '1 h'`);
  await runOnce(store, key);
  return (await changesOf(store, key)).slice(before.length).map(({ id: _id, at: _at, ...change }) => change);
}
