import type pg from 'pg';
import { one } from '../database/one.ts';

// A run that stores the very sample is not waited for: it is no longer old then.
const pruneOldest = `
  with old as materialized (
    select account_id, connection_id, check_id, database
      from counter_sample
     where taken_at < now() - interval '720 hours'
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
 * Deletes the counters that no run has read anew for 30 days, such as those of a database that was dropped, in
 * transactions of at most 1,000, and gives the number of each.
 */
export async function* pruneCounters(owner: pg.Pool): AsyncGenerator<number> {
  for (;;) {
    const { rows } = await owner.query<{ samples: number }>(pruneOldest);
    const { samples } = one(rows, 'prune counters');
    if (samples === 0) return;
    yield samples;
  }
}
