import type pg from 'pg';
import { one } from '../database/one.ts';

// Only what a seal lets go is cut, so that a log is verified from there on. A seal that somebody made up would let more go,
// but no more than its maker could have deleted, and verifying goes by those that are signed.
const longLogs = `
  select h.account_id, coalesce(f.first_id, 1) as first_id, least(s.cut_to, h.last_id) as cut_to
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
    join lateral (select cut_to from activity_seal
                   where account_id = h.account_id order by number desc limit 1) s
      on s.cut_to >= coalesce(f.first_id, 1)
   order by h.account_id`;

const ENTRIES_A_STEP = 1_000;

// What another process cut off meanwhile is not there to be deleted again, and the floor never sinks.
const cutLog = `
  with gone as (
    delete from activity
     where account_id = $1
       and id between $2::bigint and $3::bigint
    returning id, event_number
  ), risen as (
    insert into activity_floor as f (account_id, first_id, events)
    select $1, max(id) + 1, coalesce(max(event_number), 0) from gone having count(*) > 0
    on conflict (account_id) do update
       set first_id = greatest(f.first_id, excluded.first_id), events = greatest(f.events, excluded.events)
  ), forgotten as (
    delete from activity_leaves where account_id = $1 and last_id <= $3
  )
  select count(*) as entries from gone`;

/**
 * Cuts the entries that a seal lets go off every account's log, in transactions of at most 1,000, and gives the number of
 * each: the caller may rest between them, or end it. No lock of a request is taken. `owner` is a pool of the store's owner:
 * the service's own role may delete no entry.
 */
export async function* pruneEntries(owner: pg.Pool): AsyncGenerator<number> {
  const logs = await owner.query<{ account_id: number; first_id: number; cut_to: number }>(longLogs);
  for (const { account_id, first_id, cut_to } of logs.rows) {
    for (let first = first_id; first <= cut_to; first += ENTRIES_A_STEP) {
      const step = [account_id, first, Math.min(first + ENTRIES_A_STEP - 1, cut_to)];
      const { rows } = await owner.query<{ entries: number }>(cutLog, step);
      const { entries } = one(rows, 'cut the log');
      if (entries > 0) yield entries;
    }
  }
}
