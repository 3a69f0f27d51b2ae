import type pg from 'pg';
import { pruneOldest } from '../../store/prune-oldest.ts';

/** Deletes the blocking episodes and deadlocks that are older than 90 days. Works in transactions of at most 1,000 rows, and yields the number of each. */
export async function* pruneEpisodes(owner: pg.Pool): AsyncGenerator<number> {
  yield* pruneOldest(owner, {
    table: 'blocking_episode',
    at: 'seen_at',
    age: '90 days',
    lock: 'for update skip locked',
  });
  yield* pruneOldest(owner, { table: 'deadlock', at: 'at', age: '90 days', lock: 'for update skip locked' });
}
