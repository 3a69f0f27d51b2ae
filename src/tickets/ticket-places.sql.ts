import { SEVERITIES } from '../vocabulary/severities.ts';

/** The filters of a list, besides dates; absent = any. */
interface Choice {
  status?: string;
  severity?: string;
  connection_id?: number;
}

const CLASSES = ['open', 'resolved'].flatMap((status) =>
  SEVERITIES.map((severity) => ({ status, severity })),
);

/**
 * The statement of a page of tickets. A ticket's row stores its position, and `ticket_tally` counts each class (status and
 * severity) by blocks of 256, 65,536 and 16,777,216 positions. So counting the tickets before a position, or finding the
 * position of the nth, reads at most 256 rows of each level and the 256 positions of one block.
 *
 * Parameters: account, connection (0 = any), since, before (both may be null), offset, tickets per page (at most 100). The first
 * row has no id. It has `total`, the number of selected tickets; `newest`, the account's latest instant; `ends_open`: whether
 * `before` is in the future; and `is_known`: whether the account has the connection. The tickets follow, latest first.
 */
export function ticketPage(choice: Choice): string {
  const classes = CLASSES.filter(
    ({ status, severity }) =>
      (choice.status ?? status) === status && (choice.severity ?? severity) === severity,
  );
  const anywhere = choice.connection_id === undefined;
  const place = anywhere ? 'number' : 'connection_number';
  const tickets = `from ticket where account_id = $1 and ${anywhere ? '$2::bigint = 0' : 'connection_id = $2'}`;
  if (classes.length === CLASSES.length) {
    const list = `select * ${tickets} and ${place} between (select last from page) and (select first from page)`;
    return pageOf(place, (bound) => `${bound} - 1`, '', [list]);
  }

  const { before, placeOf } = countedBy(classes, place, tickets);

  // Row comparisons, the order and the limit make the planner use the index of classes, with fresh, old or no
  // statistics. With equalities, before the first ANALYZE of a million tickets, it used the smaller index of all open
  // or all resolved tickets.
  const arms = classes.map(
    ({ status, severity }) => `(
        select * ${tickets}
           and (status, severity, ${place}) >= ('${status}', '${severity}', (select last from place))
           and (status, severity, ${place}) <= ('${status}', '${severity}', (select first from place))
         order by status desc, severity desc, ${place} desc limit 100)`,
  );
  // The positions of the page's first and last ticket. None are searched for an empty page.
  const places = `, place as materialized (
select ${placeOf('(select last from page)')} as last, ${placeOf('(select first from page)')} as first
 where (select first >= last from page)
)`;
  return pageOf(place, before, places, arms);
}

/** Counts the tickets of some classes before a position, and finds the position of the nth. `tickets` is where they are read from. */
function countedBy(classes: typeof CLASSES, place: string, tickets: string) {
  const blocks = 'from ticket_tally where account_id = $1 and connection_id = $2';
  const counted = classes.map(({ status, severity }) => `${status}_${severity}`).join(' + ');
  const ofClass = classes.map(({ status, severity }) => `('${status}', '${severity}')`).join(', ');

  // Reads a block by its positions alone and filters classes afterwards, so that the planner's estimate of classes
  // has no effect.
  const before = (bound: string) => `
         (select coalesce(sum(${counted}), 0) ${blocks} and level = 3 and block < ${bound} >> 24)
       + (select coalesce(sum(${counted}), 0) ${blocks} and level = 2
             and block >= ${bound} >> 24 << 8 and block < ${bound} >> 16)
       + (select coalesce(sum(${counted}), 0) ${blocks} and level = 1
             and block >= ${bound} >> 16 << 8 and block < ${bound} >> 8)
       + (select count(*) filter (where (status, severity) in (${ofClass})) ${tickets}
             and ${place} >= ${bound} >> 8 << 8 and ${place} < ${bound})`;

  const under = (block: string) =>
    `between (select block << 8 from ${block}) and (select (block << 8) + 255 from ${block})`;
  const holder = (n: string, level: number, within: string, passed: string) => `(
    select block, passed
      from (select block, ${passed} + sum(${counted}) over upwards - (${counted}) as passed,
                   ${passed} + sum(${counted}) over upwards as upto
              ${blocks} and level = ${level} ${within}
            window upwards as (order by block)) b
     where upto >= ${n} order by block limit 1
  )`;
  const placeOf = (n: string) => `(
  with level_3 as ${holder(n, 3, '', '0')},
  level_2 as ${holder(n, 2, `and block ${under('level_3')}`, '(select passed from level_3)')},
  level_1 as ${holder(n, 1, `and block ${under('level_2')}`, '(select passed from level_2)')},
  block as materialized (
    select ${place} as place, status, severity ${tickets} and ${place} ${under('level_1')}
  )
  select place from block where (status, severity) in (${ofClass})
   order by place offset ${n} - (select passed from level_1) - 1 limit 1)`;
  return { before, placeOf };
}

// first_seen_at is assigned under the lock of the account's log, and each change of the account has milliseconds of its own. So
// every later ticket is in a later millisecond than the newest one now. Pages are pinned to that millisecond. `page` has the numbers of its last and first ticket.
const pageOf = (place: string, before: (bound: string) => string, places: string, arms: string[]) => `
with span as materialized (
  select case when $3::timestamptz is null then 1 else ticket_place_at($1, $2, $3) end as low,
         ticket_place_at($1, $2, coalesce($4::timestamptz, 'infinity')) as high
), selected as materialized (
  select ${before('low')} as below,
         ${before('high')} as upto
    from span
), page as materialized (
  select upto - below as total, (greatest(upto - $5::bigint - $6::bigint, below) + 1)::bigint as last,
         (upto - $5::bigint)::bigint as first
    from selected
)${places}
select null::bigint as place, null::bigint as id, null::bigint as connection_id, null as connection_name, null as check_id,
       null as category, null as title, null as object, null as severity, null as status, null as metric_line,
       null as remediation, null::timestamptz as first_seen_at, null::timestamptz as last_seen_at,
       null::timestamptz as resolved_at,
       total::bigint as total,
       (select to_char(first_seen_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          from ticket where account_id = $1 order by number desc limit 1) as newest,
       coalesce($4 > clock_timestamp(), true) as ends_open,
       $2::bigint = 0 or exists (select from connection
                                  where account_id = $1 and connection_id = $2 and removed_at is null) as is_known
  from page
union all
select t.${place}, t.ticket_id, t.connection_id,
       (select c.name from connection c
         where c.account_id = $1 and c.connection_id = t.connection_id),
       t.check_id, t.category, t.title, t.object, t.severity, t.status, t.metric_line, t.remediation,
       t.first_seen_at, t.last_seen_at, t.resolved_at, null, null, null, null
  from (${arms.join('\n     union all\n      ')}) t
 order by place desc nulls first`;
