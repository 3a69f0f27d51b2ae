/**
 * The gate: admits, counts and records a batch of requests in one statement, and says of each what became of it.
 *
 * The parameters are arrays of one length, one place a request, in order of arrival. What is read without a lock (the
 * key's life, the plan, the generation) is as of the statement's start, which is after every request of the batch came
 * in. What is counted (the key's window, the account's last id) is read under row locks, taken in one order by every
 * gate of every process: windows by account and key, then heads by account.
 */
export const admitBatch = `
with request as materialized (
  select *
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $13::boolean[])
         with ordinality as r (account_id, api_key_id, plan, generation, prepared, n)
), judged as materialized (
  select r.n, r.account_id, r.api_key_id, r.prepared, a.plan, a.generation, a.request_limit,
         case when k.valid_until is null or k.valid_until <= clock_timestamp() then 'dead'
              when a.plan <> r.plan or a.generation <> r.generation then 'moved'
              else 'alive' end as verdict
    from request r
    left join api_key k on k.account_id = r.account_id and k.api_key_id = r.api_key_id
    left join account a on a.account_id = r.account_id
), locked_window as materialized (
  select w.account_id, w.api_key_id, w.started_at, w.used
    from key_window w
   where (w.account_id, w.api_key_id) in (select account_id, api_key_id from judged where verdict = 'alive')
   order by w.account_id, w.api_key_id
     for update
), locked_head as materialized (
  select h.account_id, h.last_id, h.last_at
    from activity_head h
   where h.account_id in (select account_id from locked_window)
   order by h.account_id
     for update
), moment as materialized (
  -- read off after the last lock was got
  select clock_timestamp() as now from (select count(*) from locked_head) as locked
), key_window_now as materialized (
  select w.account_id, w.api_key_id, m.now,
         case when w.started_at + interval '60 s' > m.now then w.started_at else m.now end as started_at,
         case when w.started_at + interval '60 s' > m.now then w.used else 0 end as used
    from locked_window w, moment m
), counted as materialized (
  select j.n, j.account_id, j.api_key_id, j.request_limit, w.now, w.started_at,
         w.used + row_number() over (partition by j.account_id, j.api_key_id order by j.n) as nth,
         row_number() over (partition by j.account_id order by j.n) as nth_of_account
    from judged j
    join key_window_now w on w.account_id = j.account_id and w.api_key_id = j.api_key_id
   where j.verdict = 'alive'
     -- what was not prepared was believed to be over the limit: it is, or it comes back with an answer
     and (j.prepared or w.used >= j.request_limit)
), counted_window as (
  -- a plan without API access (limit 0) is answered 403, never 429, and uses nothing up
  update key_window k
     set started_at = case when c.request_limit = 0 then k.started_at else c.started_at end,
         used = greatest(c.before, least(c.after, c.request_limit)),
         last_used_at = c.now
    from (select account_id, api_key_id, request_limit, now, started_at, min(nth) - 1 as before, max(nth) as after
            from counted group by account_id, api_key_id, request_limit, now, started_at) c
   where k.account_id = c.account_id and k.api_key_id = c.api_key_id
), entry as materialized (
  select c.*, h.last_id + c.nth_of_account as id,
         greatest(c.now, h.last_at + interval '1 microsecond')
           + (c.nth_of_account - 1) * interval '1 microsecond' as occurred_at,
         c.request_limit > 0 and c.nth > c.request_limit as limited
    from counted c
    join locked_head h on h.account_id = c.account_id
), moved_head as (
  update activity_head h
     set last_id = e.last_id, last_at = e.last_at
    from (select account_id, max(id) as last_id, max(occurred_at) as last_at from entry group by account_id) e
   where h.account_id = e.account_id
), recorded as (
  insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method,
                        error_code, query, source_ip, user_agent)
  select e.account_id, e.id, e.occurred_at, 'api_request', d.page_path, d.request_id, e.api_key_id,
         case when e.limited then 429 else d.status end, d.method,
         case when e.limited then 'rate_limited' else d.error_code end, d.query, d.source_ip, d.user_agent
    from entry e
    join unnest($5::smallint[], $6::text[], $7::text[], $8::text[], $9::jsonb[], $10::uuid[], $11::inet[], $12::text[])
         with ordinality as d (status, error_code, method, page_path, query, request_id, source_ip, user_agent, n)
      on d.n = e.n
)
select case when e.limited then 'limited' when e.n is not null then 'admitted'
            when j.verdict = 'alive' then 'moved' else j.verdict end as verdict,
       j.plan,
       j.generation,
       e.request_limit as "limit",
       greatest(e.request_limit - e.nth, 0) as remaining,
       extract(epoch from case when e.request_limit = 0 then e.now else e.started_at end + interval '60 s')::float8
         as ends_at,
       extract(epoch from e.now)::float8 as now
  from judged j
  left join entry e on e.n = j.n
 order by j.n`;
