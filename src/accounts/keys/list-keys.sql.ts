/**
 * The keys of account $1, newest first, with the requests of each in the last 24 h. The count is the sum of all full
 * hours (key_hour), the uncounted log entries, and the part of the first hour within the 24 h. That part is read from the
 * log if it has at most $2 entries; else the whole hour counts, and `since` is its start. The last IP address comes from
 * the uncounted log entries, else from the key's last hour. With $3 false there are too many uncounted entries: the count
 * and the address are null.
 */
export const selectKeys = `
with span as materialized (
  select since, hour, activity_id_at($1, since) as since_id, activity_id_at($1, hour) as hour_id,
         activity_id_at($1, hour + interval '1 hour') as next_id
    from (select clock_timestamp() - interval '24 hours' as since) s,
         lateral (select date_trunc('hour', since) as hour) h
   where $3
), edge as materialized (
  select since, hour + interval '1 hour' as whole_from, since_id as first_id, next_id as whole_id
    from span where next_id - since_id <= $2
   union all
  select hour, hour, hour_id, hour_id
    from span where next_id - since_id > $2
), uncounted as materialized (
  select a.id, a.api_key_id, a.status, a.source_ip
    from edge, activity a
   where a.account_id = $1 and a.api_key_id is not null
     and a.id >= greatest(edge.whole_id, (select counted_to + 1 from key_counted where account_id = $1))
), total as (
  select api_key_id, sum(requests)::bigint as requests, sum(limited)::bigint as limited
    from (
      select h.api_key_id, h.requests, h.limited
        from edge, key_hour h
       where h.account_id = $1 and h.hour >= edge.whole_from
       union all
      select a.api_key_id, 1, (a.status = 429)::integer
        from edge, activity a
       where a.account_id = $1 and a.id >= edge.first_id and a.id < edge.whole_id and a.api_key_id is not null
       union all
      select api_key_id, 1, (status = 429)::integer from uncounted) counted
   group by api_key_id
), latest as (
  select distinct on (api_key_id) api_key_id, source_ip from uncounted order by api_key_id, id desc
)
select k.api_key_id as id, k.name, k.note, k.last_four, k.created_at, k.expires_at, k.revoked_at, k.replaced_by,
       k.scopes, k.allowed_addresses, k.version,
       case when k.revoked_at <= clock_timestamp() then 'revoked'
            when k.expires_at <= clock_timestamp() then 'expired'
            else 'active' end as state,
       old.api_key_id as replaces, k.created_by, m.name as created_by_name, w.last_used_at,
       case when $3 then host(coalesce(l.source_ip, (
         select source_ip from key_hour h
          where h.account_id = $1 and h.api_key_id = k.api_key_id order by hour desc limit 1))) end as last_used_from,
       case when $3 then coalesce(t.requests, 0) end as requests,
       case when $3 then coalesce(t.limited, 0) end as limited,
       coalesce((select since from edge), clock_timestamp() - interval '24 hours') as since, clock_timestamp() as as_of
  from api_key k
  left join key_window w on w.account_id = k.account_id and w.api_key_id = k.api_key_id
  left join member m on m.account_id = k.account_id and m.member_id = k.created_by
  left join api_key old on old.account_id = k.account_id and old.replaced_by = k.api_key_id
  left join total t on t.api_key_id = k.api_key_id
  left join latest l on l.api_key_id = k.api_key_id
 where k.account_id = $1
 order by k.created_at desc, k.api_key_id desc`;

/** The current minute and the last use of each valid key of account $1. */
export const selectWindows = `
select k.api_key_id as id,
       case when w.started_at + interval '60 s' > clock_timestamp() then w.used else 0 end as used,
       case when w.started_at + interval '60 s' > clock_timestamp() then w.started_at + interval '60 s' end as resets_at,
       w.last_used_at
  from api_key k
  join key_window w on w.account_id = k.account_id and w.api_key_id = k.api_key_id
 where k.account_id = $1 and k.valid_until > clock_timestamp()
 order by k.created_at desc, k.api_key_id desc`;

/**
 * The last 100 requests by key $2 of account $1 among the $4 entries before entry $3 (null = the log's end), newest first,
 * and the first of these entries; null when the log starts there.
 */
export const selectRequests = `
with span as materialized (
  select least($3::bigint, h.last_id + 1) as before_id,
         coalesce((select first_id from activity_floor where account_id = $1), 1) as first_id
    from activity_head h
   where h.account_id = $1
)
select e.id, e.occurred_at, e.method, e.page_path, e.status, host(e.source_ip) as source_ip, e.user_agent,
       case when span.before_id - $4::integer > span.first_id then span.before_id - $4 end as from_id
  from span
  left join lateral (
    select * from activity
     where account_id = $1 and id >= greatest(span.first_id, span.before_id - $4) and id < span.before_id
       and api_key_id = $2
     order by id desc
     limit 100) e on true
 order by e.id desc`;
