import type pg from 'pg';
import { pruneEntries } from '../src/activity/prune-entries.ts';
import { sealEntries } from '../src/activity/seals/record-seals.ts';
import type { TestStore } from './store.ts';

/** Seals every log and cuts what is older than so many days, as a round of retention does; gives how many entries went. */
export async function cutLogs(store: TestStore, owner: pg.Pool, days: number): Promise<number> {
  const { secret } = store.deps;
  for await (const _ of sealEntries({ owner, secret, activityDays: null }));
  for await (const _ of sealEntries({ owner, secret, activityDays: days }));
  let entries = 0;
  for await (const gone of pruneEntries(owner)) entries += gone;
  return entries;
}
