import type pg from 'pg';

// Requests of a key by the hour, counted from the log: the gate, which every request waits for, counts nothing for it.

/** How many entries a step counts. */
const STEP = 20_000;

/** How many entries that no step counted yet a look at the counts may read itself. */
export const UNCOUNTED = 10_000;

/** Hours are shown for up to 25 h. */
const KEPT_HOURS = 48;

// The entries before that are of no interest: the first count of a long log begins there.
const place = `
  select h.last_id, c.counted_to as stored,
         greatest(coalesce(c.counted_to, 0),
                  activity_id_at($1, date_trunc('hour', clock_timestamp() - interval '25 hours')) - 1) as counted_to
    from activity_head h
    left join key_counted c on c.account_id = h.account_id
   where h.account_id = $1`;

// Whoever moves the mark from where it was found counts what lies between: two who count at once do it once.
const count = `
  with moved as (
    insert into key_counted as c (account_id, counted_to)
    values ($1, $4)
    on conflict (account_id) do update set counted_to = excluded.counted_to
     where c.counted_to = $2::bigint
    returning 1
  )
  insert into key_hour as k (account_id, api_key_id, hour, requests, limited, source_ip)
  select $1, api_key_id, date_trunc('hour', occurred_at) as hour, count(*), count(*) filter (where status = 429),
         (array_agg(source_ip order by id desc))[1]
    from activity
   where account_id = $1 and id > $3 and id <= $4 and api_key_id is not null and exists (select from moved)
   group by api_key_id, hour
   order by api_key_id, hour
  on conflict (account_id, api_key_id, hour) do update
     set requests = k.requests + excluded.requests, limited = k.limited + excluded.limited,
         source_ip = excluded.source_ip`;

/** Counts up to 20,000 entries more; gives how many are left, and null when nothing was to be counted. */
async function countStep(pool: pg.Pool, accountId: number, enough: number): Promise<number | null> {
  const { rows } = await pool.query<{ last_id: number; stored: number | null; counted_to: number }>(place, [
    accountId,
  ]);
  const [at] = rows;
  if (!at || at.last_id - at.counted_to <= enough) return null;
  const to = Math.min(at.counted_to + STEP, at.last_id);
  await pool.query(count, [accountId, at.stored, at.counted_to, to]);
  return at.last_id - to;
}

/**
 * Counts what is new in the log of an account until no more than {@link UNCOUNTED} entries are left, or for `ms`
 * milliseconds; whether it got so far.
 */
export async function countUp(pool: pg.Pool, accountId: number, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const left = await countStep(pool, accountId, UNCOUNTED);
    if (left === null || left <= UNCOUNTED) return true;
  }
  return false;
}

const uncounted = `
  select h.account_id
    from activity_head h
    left join key_counted c on c.account_id = h.account_id
   where h.last_id > coalesce(c.counted_to, 0)
     and h.last_at > clock_timestamp() - interval '25 hours'
   order by h.account_id`;

// The last hour of a key stays: it tells where the key was used from.
const prune = `
  delete from key_hour k
   where k.account_id = $1 and k.hour < clock_timestamp() - make_interval(hours => $2)
     and exists (select from key_hour n
                  where n.account_id = $1 and n.api_key_id = k.api_key_id and n.hour > k.hour)`;

/** Counts what is new in every log, a step at a time, and forgets hours that are no longer shown. */
export async function* countKeys(owner: pg.Pool): AsyncGenerator<void> {
  const { rows } = await owner.query<{ account_id: number }>(uncounted);
  for (const { account_id } of rows) {
    while ((await countStep(owner, account_id, 0)) !== null) yield;
    await owner.query(prune, [account_id, KEPT_HOURS]);
    yield;
  }
}
