import type pg from 'pg';
import { doesNotMove } from '../database/cells/moving.sql.ts';
import { one } from '../database/one.ts';

// Skips samples that a run is storing at this moment: they are no longer old.
const pruneOldest = `
  with old as materialized (
    select account_id, connection_id, check_id, database
      from counter_sample
     where taken_at < now() - interval '720 hours' and ${doesNotMove('counter_sample.account_id')}
     limit 1000
       for update skip locked
  ), gone as (
    delete from counter_sample s
     using old
     where s.account_id = old.account_id
       and s.connection_id = old.connection_id
       and s.check_id = old.check_id
       and s.database = old.database
    returning s.check_id
  )
  select count(*) as samples from gone`;

/**
 * Deletes the counters that no run has updated for 30 days, such as those of a dropped database. Works in
 * transactions of at most 1,000 rows, and yields the number of each.
 */
export async function* pruneCounters(owner: pg.Pool): AsyncGenerator<number> {
  for (;;) {
    const { rows } = await owner.query<{ samples: number }>(pruneOldest);
    const { samples } = one(rows, 'prune counters');
    if (samples === 0) return;
    yield samples;
  }
}
