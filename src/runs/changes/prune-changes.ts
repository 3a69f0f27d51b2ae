import type pg from 'pg';
import { doesNotMove } from '../../store/cells/moving.sql.ts';
import { one } from '../../store/one.ts';
import { pruneOldest } from '../../store/prune-oldest.ts';

// A snapshot is read again at least every day, so an old one is of a database or connection that is gone.
const pruneSnapshots = `
  with old as materialized (
    select account_id, connection_id, kind, database
      from fact_snapshot
     where read_at < now() - interval '30 days' and ${doesNotMove('fact_snapshot.account_id')}
     limit 100
       for update skip locked
  ), gone as (
    delete from fact_snapshot s
     using old
     where s.account_id = old.account_id
       and s.connection_id = old.connection_id
       and s.kind = old.kind
       and s.database = old.database
    returning 1
  )
  select count(*) as changes from gone`;

/**
 * Deletes the changes that are older than 13 months, and what was read of databases that no run has reached for 30 days.
 * Works in transactions of at most 1,000 rows, and yields the number of each.
 */
export async function* pruneChanges(owner: pg.Pool): AsyncGenerator<number> {
  // The condition chooses the index, which is for retention alone.
  yield* pruneOldest(owner, {
    table: 'connection_change',
    at: 'at',
    age: '13 months',
    condition: 'connection_id > 0',
  });
  for (;;) {
    const { rows } = await owner.query<{ changes: number }>(pruneSnapshots);
    const { changes } = one(rows, 'prune snapshots');
    if (changes === 0) break;
    yield changes;
  }
}
