import type pg from 'pg';

const longLogs = `
  select h.account_id, coalesce(f.first_id, 1) as first_id
    from activity_head h
    left join activity_floor f on f.account_id = h.account_id
    join activity a on a.account_id = h.account_id and a.id = coalesce(f.first_id, 1)
   where a.occurred_at < now() - $1::integer * interval '24 hours'
   order by h.account_id`;

const ENTRIES_A_STEP = 1_000;

// now() is one instant for the whole statement: a clock that runs on while rows are looked at could leave a hole. What
// another process cut off meanwhile is not there to be deleted again, and the floor never sinks.
const cutLog = `
  with gone as (
    delete from activity
     where account_id = $1
       and id between $2::bigint and $3::bigint
       and occurred_at < now() - $4::integer * interval '24 hours'
    returning id, event_number
  ), risen as (
    insert into activity_floor as f (account_id, first_id, events)
    select $1, max(id) + 1, coalesce(max(event_number), 0) from gone having count(*) > 0
    on conflict (account_id) do update
       set first_id = greatest(f.first_id, excluded.first_id), events = greatest(f.events, excluded.events)
  )
  select count(*) as entries from gone`;

/**
 * Cuts the entries that are older than so many days (of 24 hours, by the store's clock) off every account's log, in
 * transactions of at most 1,000, and gives the number of each: the caller may rest between them, or end it. No lock of
 * a request is taken. `owner` is a pool of the store's owner: the service's own role may delete no entry.
 */
export async function* pruneEntries(owner: pg.Pool, days: number): AsyncGenerator<number> {
  const logs = await owner.query<{ account_id: number; first_id: number }>(longLogs, [days]);
  for (const { account_id, first_id } of logs.rows) {
    for (let first = first_id; ; first += ENTRIES_A_STEP) {
      const step = [account_id, first, first + ENTRIES_A_STEP - 1, days];
      const { rows } = await owner.query<{ entries: number }>(cutLog, step);
      const entries = rows[0]?.entries ?? 0;
      if (entries > 0) yield entries;
      if (entries < ENTRIES_A_STEP) break;
    }
  }
}
