import type { DateRange } from '../../platform/text/date-range.ts';
import type { Read } from '../../store/read.ts';
import { severityRank } from '../../store/sql/severity-rank.sql.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import {
  TICKET_LISTS,
  TICKET_SORTS,
  TICKET_STATES,
  type TicketGroup,
  type TicketListName,
  type TicketSort,
  type TicketState,
} from '../../vocabulary/ticket-lists.ts';
import { activeSilence, ticketState } from './ticket-state.ts';

/** Whose tickets: a member's, nobody's, or anybody's. */
type Assignee = number | 'nobody' | 'anybody';

/** Which tickets, and in which order. */
export interface TicketChoice extends DateRange {
  list: TicketListName;
  severity: Severity | null;
  connectionId: number | null;
  /** Only tickets of these connections; null = of any. */
  connectionIds: readonly number[] | null;
  assignee: Assignee;
  /** A member whom a comment mentions; null = any ticket. */
  mentioned: number | null;
  /** Words that all occur in the title, object, measured text or name of the connection, in any case. */
  words: readonly string[];
  group: TicketGroup | null;
  sort: TicketSort;
  reverse: boolean;
}

/** A ticket of a list. */
export interface ListedTicket {
  id: number;
  connection_id: number;
  connection_name: string;
  check_id: string;
  title: string;
  object: string | null;
  severity: Severity;
  status: 'open' | 'resolved';
  state: TicketState;
  metric_line: string;
  first_seen_at: Date;
  last_seen_at: Date;
  resolved_at: Date | null;
  /** Of its triage; 0 = nobody has changed it. */
  version: number;
  assignee_id: number | null;
  assignee_name: string | null;
  /** Of an acknowledged or snoozed one. */
  acknowledged_by: string | null;
  acknowledged_until: Date | null;
  /** Of a silenced one; null = unknown. */
  silenced_by: string | null;
  silenced_until: Date | null;
  /** How many comments it has. */
  comments: number;
  /** The identity of its group; null = not grouped, or the group of those without one. */
  group_key: string | null;
  group_size: number;
  /** How many tickets match. */
  total: number;
}

type ListedRow = (ListedTicket | { id: null }) & { limited: boolean };

/**
 * The most tickets that are looked at, the newest of those that match status, severity, connection and days: a search
 * reads each of them. A group, a sort and a search over all takes 0.2 s.
 */
const LOOKED_AT = 50_000;

const ORDERS: Record<TicketSort, string> = {
  first_seen: 'number',
  last_seen: 'last_seen_at',
  severity: severityRank('severity'),
  title: 'lower(title) collate "C"',
  connection: 'lower(connection_name) collate "C"',
  assignee: 'lower(assignee_name) collate "C"',
};

const GROUP_KEYS: Record<TicketGroup, string> = {
  check: 'check_id',
  connection: 'connection_id::text',
  environment: 'environment',
  tags: 'tags',
  severity: 'severity',
  state: 'state',
  assignee: 'assignee_id::text',
};

/** Groups with the worst tickets first, then the largest; then by what members read. */
const BY_WORST = 'group_worst, group_size desc';
const GROUP_ORDERS: Record<TicketGroup, string> = {
  check: `${BY_WORST}, check_id`,
  connection: `${BY_WORST}, lower(connection_name) collate "C", connection_id`,
  environment: `${BY_WORST}, environment`,
  tags: `${BY_WORST}, tags`,
  severity: severityRank('severity'),
  state: `array_position(array[${TICKET_STATES.map((state) => `'${state}'`).join(', ')}], state)`,
  assignee: `${BY_WORST}, lower(assignee_name) collate "C", assignee_id`,
};

const STATUS: Record<TicketListName, string> = {
  open: `and t.status = 'open'`,
  new: `and t.status = 'open'`,
  acknowledged: `and t.status = 'open'`,
  snoozed: `and t.status = 'open'`,
  silenced: `and t.status = 'resolved' and t.resolution like 'silenced: %'
     and t.connection_id in (select connection_id from silence
                              where account_id = $1 and (ends_at is null or ends_at > now()))`,
  resolved: `and t.status = 'resolved'`,
  all: '',
};

/** States that only a silence tells apart. */
const HAS_SILENCES: readonly TicketListName[] = ['silenced', 'resolved', 'all'];
const NO_SILENCE = `
  cross join (select null::bigint as silence_id, null::text as created_by, null::timestamptz as ends_at) s`;

/** SQL: the newest tickets that match what an index knows. The words, the state and the assignee are compared with these only. */
function lookedAt({ list, connectionId, connectionIds, mentioned }: TicketChoice): string {
  return `
              from ticket t
             where t.account_id = $1 ${STATUS[list]}
               and t.number >= (select case when $8::timestamptz is null then 1 else ticket_place_at($1, 0, $8) end)
               and t.number < (select ticket_place_at($1, 0, coalesce($9::timestamptz, 'infinity')))
               and ($2::text is null or t.severity = $2)
               ${connectionId === null ? 'and $3::bigint is null' : 'and t.connection_id = $3'}
               ${connectionIds === null ? 'and $12::bigint[] is null' : 'and t.connection_id in (select unnest($12::bigint[]))'}
               ${mentioned === null ? 'and $11::bigint is null' : MENTIONED}
             order by t.number desc
             limit ${LOOKED_AT}`;
}

/**
 * SQL: the tickets of a choice, in any state. Text of the caller is in the values only. The lateral joins look rows up by their
 * keys, whatever the planner's statistics say: a nested loop over all connections took 0.2 s longer.
 */
export function listed(choice: TicketChoice): string {
  const { list, group, sort, words } = choice;
  const needsName = words.length > 0 || group === 'connection' || sort === 'connection';
  return `
    select t.ticket_id as id, t.number, t.connection_id, c.name as connection_name, t.check_id, t.title, t.severity,
           t.last_seen_at, ${group === 'tags' ? TAGS : 'null::text'} as tags, ${group === 'environment' ? ENVIRONMENT : 'null::text'} as environment, ${ticketState} as state, m.member_id as assignee_id, m.name as assignee_name,
           g.version, g.acknowledged_by, g.acknowledged_until, s.created_by as silenced_by, s.ends_at as silenced_until
      from (select t.* ${lookedAt(choice)}) t
     cross join ${needsName ? NAME : '(select null::text as name) c'}
     ${words.length > 0 ? SEARCHED : ''}
      left join lateral (select g.* from ticket_triage g where g.account_id = $1 and g.ticket_id = t.ticket_id limit 1) g on true
      left join lateral (select m.member_id, m.name from member m
                          where m.account_id = $1 and m.member_id = g.assignee_id limit 1) m on g.assignee_id is not null
      ${HAS_SILENCES.includes(list) ? activeSilence : NO_SILENCE}
     where ($10::bigint is null or coalesce(m.member_id, 0) = $10)
       and cardinality($5::text[]) = ${words.length} ${words.map((_, n) => found(n + 1)).join(' ')}`;
}

/**
 * The chosen tickets but the first $7, at most $6. What the page shows is read for the page only, so that ten thousand sorted
 * rows are narrow.
 */
function pageStatement(choice: TicketChoice): string {
  const { group, sort, reverse } = choice;
  const groupKey = group === null ? 'null::text' : GROUP_KEYS[group];
  const descending = (TICKET_SORTS[sort] === 'desc') !== reverse;
  const order = `${ORDERS[sort]} ${descending ? 'desc' : 'asc'} nulls last`;
  return `
  with listed as materialized (${listed(choice)}
  ), chosen as (
    select *, ${groupKey} as group_key, count(*) over () as total,
           ${group === null ? '0' : `count(*) over (partition by ${groupKey})`} as group_size,
           ${group === null ? '0' : `min(${severityRank('severity')}) over (partition by ${groupKey})`} as group_worst
      from listed
     where state = any($4::text[])
  ), page as (
    select *, row_number() over () as place
      from (select *
              from chosen
             order by ${group === null ? '' : `${GROUP_ORDERS[group]}, `}${order}, number desc
             limit $6 offset $7) p
  )
  select p.id, p.connection_id, c.name as connection_name, p.check_id, p.title, t.object, p.severity, t.status, p.state, t.metric_line,
         t.first_seen_at, p.last_seen_at, t.resolved_at, coalesce(p.version, 0) as version, p.assignee_id, p.assignee_name,
         case when p.state in ('acknowledged', 'snoozed') then p.acknowledged_by end as acknowledged_by,
         case when p.state = 'snoozed' then p.acknowledged_until end as acknowledged_until,
         p.silenced_by, p.silenced_until,
         (select count(*)::integer from ticket_comment k where k.account_id = $1 and k.ticket_id = p.id) as comments, p.group_key, p.group_size, p.total,
         l.limited
    from (select case when (select max(number) from ticket where account_id = $1) < ${LOOKED_AT} then false
                      else (select count(*) from (select ${lookedAt(choice)}) looked_at) = ${LOOKED_AT} end as limited) l
    left join (page p
               join ticket t on t.account_id = $1 and t.ticket_id = p.id
               cross join ${NAME}) on true
   order by p.place`;
}

// A ticket is in one group, so that no list has it twice: that of all tags of its connection.
const TAGS = `
  (select array_to_string(x.tags, ', ') from connection_tags x where x.account_id = $1 and x.connection_id = t.connection_id)`;

const ENVIRONMENT = `
  (select max(substr(tag, 5)) from connection_tags x, unnest(x.tags) tag
    where x.account_id = $1 and x.connection_id = t.connection_id and tag like 'env:%')`;

const MENTIONED = `
               and t.ticket_id in (select k.ticket_id from ticket_comment k
                                    where k.account_id = $1 and k.mentions <> '{}' and $11 = any(k.mentions))`;

const NAME = `
  lateral (select c.name from connection c where c.account_id = $1 and c.connection_id = t.connection_id limit 1) c`;

// Made once for each ticket and not for each word, which "offset 0" keeps: ten words took five times as long.
const SEARCHED = `
     cross join lateral (
       select lower(concat_ws(E'\\n', t.title, t.object, t.metric_line, c.name)) as text offset 0
     ) searched`;

// Text of the caller is no pattern here: % and _ are characters.
const found = (n: number) => `
       and strpos(searched.text, lower(($5::text[])[${n}])) > 0`;

/** A part of the chosen tickets. */
export interface ListedTickets {
  tickets: ListedTicket[];
  /** How many tickets match; 0 on a page past the end. */
  total: number;
  /** Older tickets were not looked at. */
  limited: boolean;
}

/** At most `limit` of the chosen tickets, after the first `skip`. */
export async function listTickets(
  read: Read,
  accountId: number,
  choice: TicketChoice,
  { limit, skip }: { limit: number; skip: number },
): Promise<ListedTickets> {
  // A list without tickets is one row with null for each of their columns.
  const rows = await read<ListedRow>(pageStatement(choice), listValues(accountId, choice, { limit, skip }));
  const tickets = rows.flatMap(({ limited: _, ...row }) => (row.id === null ? [] : [row]));
  return { tickets, total: tickets[0]?.total ?? 0, limited: rows[0]?.limited === true };
}

/** The values of a statement with {@link listed}: $1 to $12. */
export function listValues(
  accountId: number,
  choice: TicketChoice,
  { limit, skip }: { limit: number; skip: number },
): unknown[] {
  const { list, severity, connectionId, assignee, mentioned, words, since, before, connectionIds } = choice;
  const assigneeId = assignee === 'anybody' ? null : assignee === 'nobody' ? 0 : assignee;
  const first = [accountId, severity, connectionId, TICKET_LISTS[list], words, limit, skip];
  return [...first, since, before, assigneeId, mentioned, connectionIds];
}
