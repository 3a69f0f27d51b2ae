import type pg from 'pg';
import { pruneOldest } from '../../store/prune-oldest.ts';

/**
 * Deletes the hours of queries and the texts that are older than 14 days. A text that is still needed is read again. Works in
 * transactions of at most 1,000 rows, and yields the number of each.
 */
export async function* pruneQueries(owner: pg.Pool): AsyncGenerator<number> {
  const how = { age: '14 days', lock: 'for update skip locked' } as const;
  yield* pruneOldest(owner, { table: 'query_hour', at: 'hour', ...how });
  yield* pruneOldest(owner, { table: 'query_text', at: 'read_at', ...how });
}
