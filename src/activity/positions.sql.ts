/**
 * Computes which entries a request selects. The row of an entry, or of a neighbour, stores its position among the
 * entries of its kind, so nothing has to be counted or skipped. Parameters: account, since, before, after_id,
 * action_type (the last four may be null).
 *
 * Returns `below` and `upto`, the positions just before the first and of the last selected entry among those of the
 * kind (all entries, API requests, or another action type), and the instant of the log's last entry. If no entry of
 * the kind is left at or before a bound, the position follows from the pruned entries: the floor's count of events,
 * or the number of the first remaining entry of the type. No search goes below the floor, where dead rows of pruned
 * entries may lie.
 */
export const choosePlaces = `
with span as materialized (
  select f.first_id, f.events, h.last_id, h.last_at,
         greatest(
           f.first_id,
           coalesce($4::bigint, 0) + 1,
           case when $2::timestamptz is not null then activity_id_at($1, $2) else 1 end) - 1 as below_id,
         case when $3::timestamptz is not null then activity_id_at($1, $3) - 1 else h.last_id end as upto_id
    from activity_head h,
         lateral (select coalesce(max(first_id), 1) as first_id, coalesce(max(events), 0) as events
                    from activity_floor where account_id = $1) f
   where h.account_id = $1
), place as materialized (
  select side, case
    when $5::text is null then bound_id
    when $5 = 'api_request' then bound_id - coalesce(
      (select event_number from activity
        where account_id = $1 and event_number is not null and id between first_id and bound_id
        order by id desc limit 1),
      events)
    else coalesce(
      (select type_number from activity
        where account_id = $1 and event_number is not null and action_type = $5 and id between first_id and bound_id
        order by id desc limit 1),
      (select type_number - 1 from activity
        where account_id = $1 and event_number is not null and action_type = $5 and id >= first_id
        order by id limit 1),
      (select last_number from activity_type_head where account_id = $1 and action_type = $5),
      0)
    end as place
    from span, lateral (values ('below', below_id), ('upto', greatest(upto_id, below_id))) as bound (side, bound_id)
)
select (select place from place where side = 'below') as below,
       (select place from place where side = 'upto') as upto,
       to_char(last_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as newest,
       coalesce($3 > clock_timestamp(), true) as ends_open
  from span`;

const entry = `
  e.id, e.action_type, e.page_path, e.occurred_at, e.properties, e.request_id, e.api_key_id,
  (select name from api_key k where k.account_id = $1 and k.api_key_id = e.api_key_id) as api_key_name,
  e.status, e.method, e.error_code, e.query, host(e.source_ip) as source_ip, e.user_agent`;

/** The entries at positions $2 to $3 among all entries. */
export const entriesAmongAll = `
select ${entry}
  from activity e
 where e.account_id = $1 and e.id between $2 and $3
 order by e.id`;

/**
 * The entries at positions $2 to $3 among API requests. Before the request at position p are p - 1 requests, and the
 * other entries that have fewer than p requests before them. Below the floor, all of the latter are pruned.
 */
export const entriesAmongRequests = `
with floor as materialized (
  select coalesce(max(first_id), 1) - 1 - coalesce(max(events), 0) as requests, coalesce(max(events), 0) as events
    from activity_floor where account_id = $1
), chosen as materialized (
  select place + coalesce(
           (select event_number from activity
             where account_id = $1 and event_number is not null
               and (requests_before, event_number) > (floor.requests, floor.events) and requests_before < place
             order by requests_before desc, event_number desc limit 1),
           floor.events) as id
    from floor, generate_series($2::bigint, $3::bigint) as place
)
select ${entry}
  from chosen,
       lateral (select * from activity where account_id = $1 and id = chosen.id offset 0) e
 order by e.id`;

/** The entries at positions $2 to $3 among those of the action type $4. */
export const entriesAmongType = `
select ${entry}
  from activity e
 where e.account_id = $1 and e.event_number is not null and e.action_type = $4 and e.type_number between $2 and $3
 order by e.id`;
