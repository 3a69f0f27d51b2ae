/**
 * Where an account's log stands and which entries a request chooses, as arithmetic: an entry's place among its kind is
 * a number that its row or a neighbour's holds, so nothing is counted and nothing is skipped. Parameters: account,
 * since, before, after_id, action_type (the last four may be null).
 *
 * Gives `below` and `upto`, the places just before the first and of the last chosen entry among those of the kind
 * (all entries, API requests, or another action type), and the instant of the log's last entry. `coalesce` falls back
 * on the first entry of the kind that is left, should older ones have been pruned, then on the head.
 */
export const choosePlaces = `
with head as (
  select last_id, last_at, events from activity_head where account_id = $1
), span as (
  select greatest(
           coalesce((select min(id) from activity where account_id = $1), last_id + 1),
           coalesce($4::bigint, 0) + 1,
           case when $2::timestamptz is not null then activity_id_at($1, $2) else 1 end) - 1 as below_id,
         case when $3::timestamptz is not null then activity_id_at($1, $3) - 1 else last_id end as upto_id,
         last_at, events
    from head
), place as (
  select side, case
    when $5::text is null then bound_id
    when $5 = 'api_request' then bound_id - coalesce(
      (select event_number from activity
        where account_id = $1 and event_number is not null and id <= bound_id order by id desc limit 1),
      (select event_number - 1 from activity
        where account_id = $1 and event_number is not null order by id limit 1),
      events)
    else coalesce(
      (select type_number from activity
        where account_id = $1 and event_number is not null and action_type = $5 and id <= bound_id
        order by id desc limit 1),
      (select type_number - 1 from activity
        where account_id = $1 and event_number is not null and action_type = $5 order by id limit 1),
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
  e.id, e.action_type, e.page_path, e.occurred_at, e.properties, e.request_id, e.api_key_id, k.name as api_key_name,
  e.status, e.method, e.error_code, e.query, host(e.source_ip) as source_ip, e.user_agent
    from chosen
    join activity e on e.account_id = $1 and e.id = chosen.id
    left join api_key k on k.account_id = e.account_id and k.api_key_id = e.api_key_id
   order by e.id`;

/** The entries at the places from $2 to $3 among all entries. */
export const entriesAmongAll = `
with chosen as (
  select generate_series($2::bigint, $3::bigint) as id
)
select ${entry}`;

/**
 * The entries at the places from $2 to $3 among API requests. Before the request at place p lie p - 1 requests and
 * those other entries that have fewer than p requests before them; an entry has id - event_number of them.
 */
export const entriesAmongRequests = `
with chosen as (
  select place + coalesce(
           (select event_number from activity
             where account_id = $1 and event_number is not null and id - event_number < place
             order by id - event_number desc, event_number desc limit 1),
           (select event_number - 1 from activity
             where account_id = $1 and event_number is not null order by id limit 1),
           (select events from activity_head where account_id = $1)) as id
    from generate_series($2::bigint, $3::bigint) as place
)
select ${entry}`;

/** The entries at the places from $2 to $3 among those of the action type $4. */
export const entriesAmongType = `
with chosen as (
  select id from activity
   where account_id = $1 and event_number is not null and action_type = $4 and type_number between $2 and $3
)
select ${entry}`;
