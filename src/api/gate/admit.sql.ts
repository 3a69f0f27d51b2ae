import { instantAfter } from '../../store/log/log-instant.sql.ts';

/**
 * The gate: one statement admits, counts and records a batch of requests, and returns a verdict for each key.
 *
 * $1 to $8 are the keys of the batch: account and key; the plan and the generation that their answers assume; how many
 * answers were read afresh, how many came from the cache (valid only at that generation), and how many requests have no
 * answer because the window seemed spent (requests count in this order); and the version of the key's access rules by which
 * all of them were judged. $9 to $12 are the requests: number of the key in the batch, position among its requests from 1,
 * number of the template, id. $13 to $19 are the templates: the other recorded fields, which many requests share. $20 is the time
 * of the store's clock, in Unix seconds, from which on nothing is admitted: the requests were answered with 500. null = never.
 *
 * Values read without a lock (the key's validity and version, the plan, the generation) are as of the statement's start,
 * which is after every request of the batch arrived. Counters are read under the lock of the account's head. Every gate of every
 * process takes this lock first, in order of accounts. Its holder alone uses the account's windows, and an update starts
 * from the newest version of a window, even if that is younger than the statement. `used_before` returns that version's count.
 */
export const admitBatch = `
with key_batch as materialized (
  select *
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::integer[], $6::integer[], $7::integer[],
              $8::integer[])
         with ordinality as p (account_id, api_key_id, plan, generation, fresh, kept, unprepared, access_version, n)
), judged as materialized (
  select p.n, p.account_id, p.api_key_id, p.fresh, p.unprepared, a.plan, a.generation, a.request_limit,
         case when a.generation = p.generation then p.kept else 0 end as kept,
         case when $20::float8 < extract(epoch from clock_timestamp()) then 'late'
              when k.valid_until is null or k.valid_until <= clock_timestamp() then 'dead'
              when a.plan <> p.plan or k.version <> p.access_version then 'moved'
              else 'alive' end as verdict,
         p.fresh + p.kept + p.unprepared as size, k.version as access_version
    from key_batch p
    left join api_key k on k.account_id = p.account_id and k.api_key_id = p.api_key_id
    left join account a on a.account_id = p.account_id
), locked_head as materialized (
  select h.account_id, h.last_id, h.last_at
    from activity_head h
   where h.account_id in (select account_id from judged where verdict = 'alive')
   order by h.account_id
     for update
), moment as materialized (
  -- read after the last lock was taken
  select clock_timestamp() as now from (select count(*) from locked_head) as locked
), counted as (
  -- a plan without API access (limit 0) gets 403, never 429, and does not count
  update key_window w
     set started_at = case when w.started_at > m.now then m.now -- the clock was set back: the window ends 60 s from now
                           when w.started_at + interval '60 s' > m.now or j.request_limit = 0 or j.fresh + j.kept = 0
                           then w.started_at else m.now end,
         used_before = case when w.started_at + interval '60 s' > m.now then w.used else 0 end,
         used = case when j.request_limit = 0 or j.fresh + j.kept = 0 then w.used
                     when w.started_at + interval '60 s' > m.now
                       then greatest(w.used, least(w.used + j.fresh + j.kept, j.request_limit))
                     else least(j.fresh + j.kept, j.request_limit) end,
         last_used_at = case when j.fresh + j.kept > 0
                                  or w.started_at + interval '60 s' > m.now and w.used >= j.request_limit
                             then m.now else w.last_used_at end
    from judged j, moment m
   where w.account_id = j.account_id and w.api_key_id = j.api_key_id and j.verdict = 'alive'
  returning j.n, j.account_id, j.api_key_id, j.plan, j.generation, j.request_limit, m.now,
            case when j.request_limit = 0 then m.now else w.started_at end as started_at, w.used_before,
            case when w.used_before >= j.request_limit then j.size else j.fresh + j.kept end as entries
), entered as materialized (
  select c.*, greatest(c.now, ${instantAfter('h.last_at')}) as head_at, h.last_id as head_id,
         sum(c.entries) over (partition by c.account_id order by c.n) - c.entries as ahead
    from counted c
    join locked_head h on h.account_id = c.account_id
), moved_head as (
  update activity_head h
     set last_id = e.head_id + e.entries, last_at = e.head_at + (e.entries - 1) * interval '1 microsecond'
    from (select account_id, head_id, head_at, sum(entries) as entries
            from entered group by account_id, head_id, head_at) e
   where h.account_id = e.account_id and e.entries > 0
), recorded as (
  insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method,
                        error_code, query, source_ip, user_agent)
  select e.account_id, e.head_id + e.ahead + r.nth, e.head_at + (e.ahead + r.nth - 1) * interval '1 microsecond',
         'api_request', f.page_path, r.request_id, e.api_key_id,
         case when e.request_limit > 0 and e.used_before + r.nth > e.request_limit then 429 else f.status end, f.method,
         case when e.request_limit > 0 and e.used_before + r.nth > e.request_limit then 'rate_limited' else f.error_code end,
         f.query, f.source_ip, f.user_agent
    from unnest($9::integer[], $10::integer[], $11::integer[], $12::uuid[]) as r (key_batch, nth, template, request_id)
    join entered e on e.n = r.key_batch and r.nth <= e.entries
    join unnest($13::smallint[], $14::text[], $15::text[], $16::text[], $17::jsonb[], $18::inet[], $19::text[])
         with ordinality as f (status, error_code, method, page_path, query, source_ip, user_agent, n)
      on f.n = r.template
)
select n::integer, 'alive' as verdict, plan, generation, null::integer as access_version,
       request_limit as "limit", used_before as used, entries,
       extract(epoch from started_at + interval '60 s')::float8 as ends_at, extract(epoch from now)::float8 as now
  from entered
 union all
select n::integer, verdict, plan, generation, access_version, null, null, null, null,
       case when verdict = 'late' then extract(epoch from clock_timestamp()) end
  from judged
 where verdict <> 'alive'`;
