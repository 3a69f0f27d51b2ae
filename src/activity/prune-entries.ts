import type pg from 'pg';
import { doesNotMove } from '../store/cells/moving.sql.ts';
import { one } from '../store/one.ts';

// Only entries that a seal releases are deleted, so that the rest of the log can be verified. A forged seal could
// release more, but only what its author could delete anyway, and verification accepts only signed seals. What a log stream has
// not delivered stays until a week after the log said so.
const prunableLogs = `
  select h.account_id, coalesce(f.first_id, 1) as first_id, least(s.cut_to, h.last_id, needed.before_id) as cut_to
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
    join lateral (select cut_to from activity_seal
                   where account_id = h.account_id order by number desc limit 1) s
      on s.cut_to >= coalesce(f.first_id, 1)
    left join lateral (select min(ls.next_id) - 1 as before_id
                         from log_stream ls
                         join destination d using (account_id, destination_id)
                        where ls.account_id = h.account_id and d.removed_at is null
                          and (ls.warned_at is null or ls.warned_at > now() - interval '7 days')) needed on true
   where ${doesNotMove('h.account_id')}
   order by h.account_id`;

const ENTRIES_A_STEP = 1_000;

// Entries that another process deleted meanwhile are skipped, and the floor never moves down. A move may begin between two steps.
const deleteEntries = `
  with deleted as (
    delete from activity
     where account_id = $1
       and id between $2::bigint and $3::bigint
       and ${doesNotMove('$1')}
    returning id, event_number
  ), raised as (
    insert into activity_floor as f (account_id, first_id, events)
    select $1, max(id) + 1, coalesce(max(event_number), 0) from deleted having count(*) > 0
    on conflict (account_id) do update
       set first_id = greatest(f.first_id, excluded.first_id), events = greatest(f.events, excluded.events)
  ), deleted_leaves as (
    delete from activity_leaves where account_id = $1 and last_id <= $3 and ${doesNotMove('$1')}
  )
  select count(*) as entries from deleted`;

/**
 * Deletes the entries that seals release from every account's log, in transactions of at most 1,000, and yields the
 * number of each. The caller may pause between them, or stop. Takes no lock that requests use. `owner` is a pool of
 * the store's owner, because the service's own role can't delete entries.
 */
export async function* pruneEntries(owner: pg.Pool): AsyncGenerator<number> {
  const logs = await owner.query<{ account_id: number; first_id: number; cut_to: number }>(prunableLogs);
  for (const { account_id, first_id, cut_to } of logs.rows) {
    for (let first = first_id; first <= cut_to; first += ENTRIES_A_STEP) {
      const step = [account_id, first, Math.min(first + ENTRIES_A_STEP - 1, cut_to)];
      const { rows } = await owner.query<{ entries: number }>(deleteEntries, step);
      const { entries } = one(rows, 'cut the log');
      if (entries > 0) yield entries;
    }
  }
}
