import type pg from 'pg';
import { doesNotMove } from '../../store/cells/moving.sql.ts';
import { ENDPOINT_PATHS } from '../../vocabulary/endpoint-paths.ts';

// Counts each key's requests per hour, and per day, endpoint and status, from the log, so that requests do not wait for counters
// in the gate.

/** Log entries per step. */
const STEP = 20_000;

/** The most uncounted entries that a query for the counts reads from the log. */
export const UNCOUNTED = 10_000;

/** Counts by hour are shown for the last 25 h. */
const KEPT_HOURS = 48;

/** Counts by day are shown for today and the 29 days before (UTC). */
const KEPT_DAYS = 31;

// The first count of a long log starts 25 h ago: older entries are never shown.
const place = `
  select h.last_id, c.counted_to as stored,
         greatest(coalesce(c.counted_to, 0),
                  activity_id_at($1, date_trunc('hour', clock_timestamp() - interval '25 hours')) - 1) as counted_to
    from activity_head h
    left join key_counted c on c.account_id = h.account_id
   where h.account_id = $1`;

/** The endpoint of an entry's `page_path`, one of the list in the parameter; '' = none of them. */
export function endpointSql(paths: string): string {
  return `case when page_path like '/api/v1/%'
                    and regexp_replace(substr(page_path, 8), '^/health/connections/[^/]+/', '/health/connections/:id/') = any(${paths}::text[])
               then regexp_replace(substr(page_path, 8), '^/health/connections/[^/]+/', '/health/connections/:id/')
               else '' end`;
}

// Only the process that moves the mark counts the entries in between, so concurrent processes count each entry once.
const count = `
  with moved as (
    insert into key_counted as c (account_id, counted_to)
    values ($1, $4)
    on conflict (account_id) do update set counted_to = excluded.counted_to
     where c.counted_to = $2::bigint
    returning 1
  ), entry as materialized (
    select api_key_id, id, occurred_at, status, source_ip, page_path
      from activity
     where account_id = $1 and id > $3 and id <= $4 and api_key_id is not null and exists (select from moved)
  ), by_day as (
    insert into key_day as k (account_id, api_key_id, day, endpoint, status, requests)
    select $1, api_key_id, (occurred_at at time zone 'UTC')::date as day, ${endpointSql('$5')} as endpoint, status, count(*)
      from entry
     group by api_key_id, day, endpoint, status
     order by api_key_id, day, endpoint, status
    on conflict (account_id, api_key_id, day, endpoint, status) do update
       set requests = k.requests + excluded.requests
  )
  insert into key_hour as k (account_id, api_key_id, hour, requests, limited, source_ip)
  select $1, api_key_id, date_trunc('hour', occurred_at) as hour, count(*), count(*) filter (where status = 429),
         (array_agg(source_ip order by id desc))[1]
    from entry
   group by api_key_id, hour
   order by api_key_id, hour
  on conflict (account_id, api_key_id, hour) do update
     set requests = k.requests + excluded.requests, limited = k.limited + excluded.limited,
         source_ip = excluded.source_ip`;

/** Counts up to 20,000 more entries. Returns how many are left, or null when no more than `enough` were uncounted. */
async function countStep(pool: pg.Pool, accountId: number, enough: number): Promise<number | null> {
  const { rows } = await pool.query<{ last_id: number; stored: number | null; counted_to: number }>(place, [
    accountId,
  ]);
  const [at] = rows;
  if (!at || at.last_id - at.counted_to <= enough) return null;
  const to = Math.min(at.counted_to + STEP, at.last_id);
  await pool.query(count, [accountId, at.stored, at.counted_to, to, ENDPOINT_PATHS]);
  return at.last_id - to;
}

/**
 * Counts an account's new log entries until at most {@link UNCOUNTED} are left. Returns false if that takes longer than
 * `ms` milliseconds.
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

// Each key keeps its last hour, because it holds the IP address that used the key last.
const prune = `
  delete from key_hour k
   where k.account_id = $1 and k.hour < clock_timestamp() - make_interval(hours => $2) and ${doesNotMove('$1')}
     and exists (select from key_hour n
                  where n.account_id = $1 and n.api_key_id = k.api_key_id and n.hour > k.hour)`;

const pruneDays = `
  delete from key_day
   where account_id = $1 and day < (clock_timestamp() at time zone 'UTC')::date - $2::integer and ${doesNotMove('$1')}`;

/** Counts the new entries of all logs, one step at a time, and deletes hours and days that are no longer shown. */
export async function* countKeys(owner: pg.Pool): AsyncGenerator<void> {
  const { rows } = await owner.query<{ account_id: number }>(uncounted);
  for (const { account_id } of rows) {
    while ((await countStep(owner, account_id, 0)) !== null) yield;
    await owner.query(prune, [account_id, KEPT_HOURS]);
    await owner.query(pruneDays, [account_id, KEPT_DAYS]);
    yield;
  }
}
