import { endpointSql } from './key-counts.ts';

/**
 * The requests of key $2 of account $1 by day (UTC), endpoint and status, today and the 29 days before: those counted
 * (key_day) and the uncounted log entries. $3 are the paths of the endpoints.
 */
export const selectUsage = `
with today as materialized (
  select (clock_timestamp() at time zone 'UTC')::date as day
), counted as materialized (
  select greatest((select counted_to from key_counted where account_id = $1),
                  activity_id_at($1, date_trunc('hour', clock_timestamp() - interval '25 hours')) - 1) as counted_to
), uncounted as materialized (
  select (a.occurred_at at time zone 'UTC')::date as day, a.page_path, a.status
    from counted, activity a
   where a.account_id = $1 and a.id > counted.counted_to and a.api_key_id = $2
)
select u.day::text, u.endpoint, u.status, sum(u.requests)::bigint as requests, today.day::text as today
  from today
  left join (
    select day, endpoint, status, requests from key_day where account_id = $1 and api_key_id = $2
     union all
    select day, ${endpointSql('$3')}, status, 1 from uncounted) u on u.day > today.day - 30
 group by u.day, u.endpoint, u.status, today.day
 order by u.day, u.endpoint, u.status`;

/** The last 50 entries about refused attempts with key $2, among the last $3 of account $1; newest first. */
export const selectRefusals = `
select id, occurred_at, properties ->> 'reason' as reason, properties ->> 'source_ip' as source_ip,
       (properties ->> 'attempts')::bigint as attempts
  from (select id, occurred_at, properties
          from activity
         where account_id = $1 and event_number is not null and action_type = 'api_key_refused'
         order by id desc
         limit $3) refusal
 where (properties ->> 'api_key_id')::bigint = $2
 order by id desc
 limit 50`;
