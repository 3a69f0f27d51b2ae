import type pg from 'pg';
import { pruneEntries } from '../../src/activity/prune-entries.ts';
import { sealEntries } from '../../src/activity/seals/record-seals.ts';
import type { TestStore } from './store.ts';

/** Seals every log and removes entries older than the days, as retention does. Returns the number of removed entries. */
export async function cutLogs(store: TestStore, owner: pg.Pool, days: number): Promise<number> {
  const { secret } = store.deps;
  for await (const _ of sealEntries({ owner, secret, activityDays: null }));
  for await (const _ of sealEntries({ owner, secret, activityDays: days }));
  let entries = 0;
  for await (const gone of pruneEntries(owner)) entries += gone;
  return entries;
}
