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

/** The first and the last place of a page, of the places after `below` up to `upto`. */
const firstAndLast = (order: 'asc' | 'desc', offset: string, size: string) =>
  order === 'asc'
    ? `below + ${offset}::bigint + 1 as first, least(below + ${offset}::bigint + ${size}::bigint, upto) as last`
    : `greatest(upto - ${offset}::bigint - ${size}::bigint, below) + 1 as first, upto - ${offset}::bigint as last`;

/** The columns of an entry `e`, as `writeEntry` takes them. */
export const ENTRY = `
         e.id, e.action_type, e.page_path, e.occurred_at::text, e.properties::text, e.request_id, e.api_key_id, e.status,
         e.method, e.error_code, e.query::text, host(e.source_ip) as source_ip, e.user_agent`;

/** Separate the values of a line, and the lines. No number, time, address or JSON of PostgreSQL contains them, but a text may. */
export const VALUE_SEPARATOR = '\x1f';
export const LINE_SEPARATOR = '\x1e';

// What a request seldom lacks is written as -1, `-`, zeros or an empty text if it is null.
const LINE = `
       case when e.properties is not null
            then concat_ws(e'\\x1f', 'entry', e.id, e.occurred_at, e.properties, e.action_type, e.page_path)
            else concat_ws(e'\\x1f', 'request', e.id, e.occurred_at, coalesce(e.status, -1), coalesce(e.api_key_id, -1),
                           coalesce(e.request_id, '00000000-0000-0000-0000-000000000000'), coalesce(host(e.source_ip), '-'),
                           num_nonnulls(e.method, e.error_code, e.user_agent),
                           coalesce(e.query, 'null'), e.action_type, e.page_path, coalesce(e.method, ''),
                           coalesce(e.error_code, ''), coalesce(e.user_agent, ''))
       end`;

const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** Selects a page as one text: a line about it, and a line for each entry. The instant comes last: an empty log has none. */
const asText = (kind: EntryKind, endsOpen: string, lastAt: string, from: string) => `
select concat_ws(e'\\x1e',
         concat_ws(e'\\x1f', page.total, ${endsOpen}, (select generation from account where account_id = $1),
                   entries.number, to_char(${lastAt}, ${TIME})),
         entries.lines) as page
  from ${from},
       lateral (select count(*) as number, string_agg(${LINE}, e'\\x1e') as lines
                  from${ENTRIES[kind]}) entries`;

/** A statement of a page of the log, in two forms. */
export interface LogPage {
  /**
   * Returns one text with a line for each row, which costs PostgreSQL and Node less than half as much as its columns. A few
   * rows are ambiguous as lines.
   */
  lines: string;
  /** Returns any row, column by column. */
  columns: string;
}

/** SQL: the bounds of a page, and its places among the entries up to a bound, of which `place` counts those that are selected. */
export const pagePlaces = (place: (bound: string) => string, order: 'asc' | 'desc') => `
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
  select upto - below as total, ${firstAndLast(order, '$5', '$6')} from place
)`;

const ENDS_OPEN = 'coalesce($3 > clock_timestamp(), true)';

/** SQL: the row about the page, then the entries of the table `entry`, as {@link LogPage.columns} returns them. */
export const headAndEntries = (order: 'asc' | 'desc') => `
select null::bigint as id, null as action_type, null as page_path, null as occurred_at, null as properties,
       null::uuid as request_id, null::bigint as api_key_id, null::smallint as status, null as method, null as error_code,
       null as query, null as source_ip, null as user_agent,
       page.total, to_char(span.last_at, ${TIME}) as newest,
       ${ENDS_OPEN} as ends_open,
       (select jsonb_object_agg(k.api_key_id, k.name) from api_key k
         where k.account_id = $1 and k.api_key_id in (select e.api_key_id from entry e)) as key_names
  from span, page
union all
select e.*, null, null, null, null from entry e
 order by id ${order} nulls first`;

/**
 * A page of the log, in one statement. The row of an entry, or of a neighbour, stores its position among the entries of its
 * kind, so nothing has to be counted or skipped. Parameters: account, since, before, after_id (these three may be null),
 * offset, entries per page (at most 100), and the action type for the kind `type`.
 *
 * One row is about the page, in `columns` the first one, which has no id: `total`, the number of selected entries; `newest`,
 * the instant of the log's last entry; and `ends_open`, whether `before` is in the future. In `lines` it is the first line, and
 * also has the account's `generation`, by which a process remembers the names of keys, and the number of entries; in
 * `columns`, `key_names` by id. The other rows are the entries, in `lines` in any order, with time and JSON as text. If nothing
 * is selected, only the log's head and floor are read. No search goes below the floor, where dead rows of pruned entries may
 * lie.
 */
export function logPage(kind: EntryKind, order: 'asc' | 'desc'): LogPage {
  const page = pagePlaces(PLACE[kind], order);
  return {
    lines: `${page}${asText(kind, ENDS_OPEN, 'span.last_at', 'span, page')}`,
    columns: `${page}, entry as materialized (
  select ${ENTRY}
    from span, page,${ENTRIES[kind]}
)${headAndEntries(order)}`,
  };
}

/**
 * The `lines` of {@link logPage} for all entries at any time, which collectors ask for all day: PostgreSQL starts it in three
 * quarters of the time. Parameters: account, after_id (may be null), offset, entries per page.
 */
export function wholeLogPage(order: 'asc' | 'desc'): string {
  const span = `
       (select last_at, last_id as upto,
               least(last_id, greatest(coalesce($2::bigint, 0),
                                       coalesce((select first_id - 1 from activity_floor where account_id = $1), 0))) as below
          from activity_head where account_id = $1 offset 0) span`;
  const page = `
       lateral (select upto - below as total, ${firstAndLast(order, '$3', '$4')}) page`;
  return asText('all', 'true', 'span.last_at', `${span},${page}`);
}
