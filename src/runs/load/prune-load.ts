import type pg from 'pg';
import { pruneOldest } from '../../store/prune-oldest.ts';

/** Deletes the load of connections that is older than 14 days. Works in transactions of at most 1,000 rows, and yields the number of each. */
export async function* pruneLoad(owner: pg.Pool): AsyncGenerator<number> {
  yield* pruneOldest(owner, {
    table: 'session_load',
    at: 'at',
    age: '14 days',
    lock: 'for update skip locked',
  });
  // Their time is that of their last minute, to about an hour.
  yield* pruneOldest(owner, {
    table: 'session_load_source',
    at: 'seen_at',
    age: '15 days',
    lock: 'for update skip locked',
  });
}
