/** Which entries a page selects from: all, API requests, or those of another action type. */
export type EntryKind = 'all' | 'requests' | 'type';

// Before the request at position p are p - 1 requests, and the other entries that have fewer than p requests before them. If no
// entry of a type is left at or before a bound, its position follows from the first remaining one, or from the type's count.
const PLACE: Record<EntryKind, (bound: string) => string> = {
  all: (bound) => bound,
  requests: (bound) => `${bound} - coalesce(
           (select event_number from activity
             where account_id = $1 and event_number is not null and id between first_id and ${bound}
             order by id desc limit 1),
           events)`,
  type: (bound) => `coalesce(
           (select type_number from activity
             where account_id = $1 and event_number is not null and action_type = $7 and id between first_id and ${bound}
             order by id desc limit 1),
           (select type_number - 1 from activity
             where account_id = $1 and event_number is not null and action_type = $7 and id >= first_id
             order by id limit 1),
           (select last_number from activity_type_head where account_id = $1 and action_type = $7),
           0)`,
};

// The condition on the page keeps an empty one from touching the log, the limit lets the planner use the index in its order.
const ENTRIES: Record<EntryKind, string> = {
  all: `
         lateral (select * from activity
                   where account_id = $1 and id between page.first and page.last and page.first <= page.last
                   order by id limit 100) e`,
  // Below the floor, all other entries are pruned.
  requests: `
         lateral (select place + coalesce(
                           (select event_number from activity
                             where account_id = $1 and event_number is not null
                               and (requests_before, event_number) > (span.first_id - 1 - span.events, span.events)
                               and requests_before < place
                             order by requests_before desc, event_number desc limit 1),
                           span.events) as id
                    from generate_series(page.first, page.last) as place offset 0) chosen,
         lateral (select * from activity where account_id = $1 and id = chosen.id offset 0) e`,
  type: `
         lateral (select * from activity
                   where account_id = $1 and event_number is not null and action_type = $7
                     and type_number between page.first and page.last and page.first <= page.last
                   order by type_number limit 100) e`,
};

const FIRST_AND_LAST = {
  asc: 'below + $5 + 1 as first, least(below + $5 + $6, upto) as last',
  desc: 'greatest(upto - $5 - $6, below) + 1 as first, upto - $5 as last',
};

// JSON as `JSON.stringify` writes it. `to_json` escapes the same characters and adds no blanks, and the milliseconds are cut as
// `toISOString` cuts them. PostgreSQL prints jsonb otherwise than Node, so `value` stays for Node to write.
const json = (column: string) => `coalesce(to_json(${column}), 'null')`;

const START = `concat(
         '{"id":', e.id, ',"action_type":', to_json(e.action_type), ',"page_path":', to_json(e.page_path), ',"properties":',
         case when e.properties is null then concat(
           '{"method":', ${json('e.method')}, ',"status":', ${json('e.status')}, ',"error_code":', ${json('e.error_code')},
           ',"query":') end)`;

const ENDING = `concat(
         case when e.properties is null then concat(
           ',"request_id":', ${json('e.request_id')}, ',"api_key_id":', ${json('e.api_key_id')},
           ',"api_key_name":', coalesce(named.names -> e.api_key_id::text, 'null'),
           ',"source_ip":', ${json('host(e.source_ip)')}, ',"user_agent":', ${json('e.user_agent')}, '}') end,
         ',"occurred_at":"', to_char(e.occurred_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"}')`;

/**
 * A page of the log, in one statement. The row of an entry, or of a neighbour, stores its position among the entries of its
 * kind, so nothing has to be counted or skipped. Parameters: account, since, before, after_id (these three may be null),
 * offset, entries per page (at most 100), and the action type for the kind `type`.
 *
 * The first row has no id. It has `total`, the number of selected entries; `newest`, the instant of the log's last entry;
 * and `ends_open`, whether `before` is in the future. The entries follow, each as JSON in three parts: `start`, `value` (null =
 * an empty object), which is still to be written as JSON, and `ending`. If nothing is selected, only the log's head and floor are
 * read. No search goes below the floor, where dead rows of pruned entries may lie.
 */
export function logPage(kind: EntryKind, order: 'asc' | 'desc'): string {
  const place = PLACE[kind];
  return `
with span as materialized (
  select f.first_id, f.events, h.last_at, start.below_id,
         greatest(start.below_id,
           case when $3::timestamptz is not null and start.below_id < h.last_id
                then activity_id_at($1, $3) - 1 else h.last_id end) as upto_id
    from activity_head h,
         lateral (select coalesce(max(first_id), 1) as first_id, coalesce(max(events), 0) as events
                    from activity_floor where account_id = $1) f,
         lateral (select greatest(
                           f.first_id,
                           coalesce($4::bigint, 0) + 1,
                           case when $2::timestamptz is not null and coalesce($4::bigint, 0) < h.last_id
                                then activity_id_at($1, $2) else 1 end) - 1 as below_id offset 0) start
   where h.account_id = $1
), place as materialized (
  select case when upto_id > below_id then ${place('below_id')} else 0 end as below,
         case when upto_id > below_id then ${place('upto_id')} else 0 end as upto
    from span
), page as materialized (
  select upto - below as total, ${FIRST_AND_LAST[order].replaceAll('$5', '$5::bigint').replaceAll('$6', '$6::bigint')} from place
), entry as materialized (
  select e.*
    from span, page,${ENTRIES[kind]}
), named as materialized (
  select jsonb_object_agg(k.api_key_id, k.name) as names
    from api_key k
   where k.account_id = $1 and k.api_key_id in (select e.api_key_id from entry e)
)
select null::bigint as id, page.total, to_char(span.last_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as newest,
       coalesce($3 > clock_timestamp(), true) as ends_open, null as start, null::jsonb as value, null as ending
  from span, page
union all
select e.id, null, null, null, ${START}, coalesce(e.properties, e.query), ${ENDING}
  from entry e, named
 order by id ${order} nulls first`;
}
