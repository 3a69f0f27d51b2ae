import type { Read } from '../../store/read.ts';
import { hasTags, tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { isAcknowledged } from '../../store/sql/triage.sql.ts';

/** Which tickets; null = any. Instants are in PostgreSQL's format. */
export interface TicketFilter {
  status: string | null;
  severity: string | null;
  connectionId: number | null;
  checkId: string | null;
  /** All of them must match the connection's. */
  tags: readonly string[] | null;
  /** The range of first_seen_at: including `since`, excluding `before`. */
  since: string | null;
  before: string | null;
}

/** A ticket as endpoint 4 shows it. */
export interface ChosenTicket {
  id: number;
  connection_id: number;
  connection_name: string;
  check_id: string;
  category: string;
  title: string;
  object: string | null;
  severity: string;
  status: string;
  metric_line: string;
  remediation: string;
  first_seen_at: Date;
  last_seen_at: Date;
  resolved_at: Date | null;
}

/** A ticket with its place in a list: its number, or that of its last change. */
export interface PlacedTicket extends ChosenTicket {
  number: number;
}

/** A ticket with its last change. */
export interface UpdatedTicket extends PlacedTicket {
  updated_at: Date;
}

/** Which rows of a list: those below a number (null = all), without the first `offset` of them. */
interface Limits {
  below: number | null;
  limit: number;
  offset: number;
}

/** The changes to list, besides the filter. */
export interface UpdateRange {
  /** Only changes with a higher number. */
  after: number;
  /** Only changes at or after this instant; null = any. */
  updatedSince: string | null;
}

const columns = `
  t.ticket_id as id, t.connection_id,
  (select c.name from connection c where c.account_id = $1 and c.connection_id = t.connection_id) as connection_name,
  t.check_id, t.category, t.title, t.object, t.severity, t.status, t.metric_line, t.remediation, t.first_seen_at,
  t.last_seen_at, t.resolved_at`;

/** Each condition on `ticket t`, of its parameter, with the parameter's type. */
const CONDITIONS: readonly [keyof TicketFilter, type: string, condition: (parameter: string) => string][] = [
  ['status', 'text', (p) => `t.status = ${p}`],
  ['severity', 'text', (p) => `t.severity = ${p}`],
  ['connectionId', 'bigint', (p) => `t.connection_id = ${p}`],
  ['checkId', 'text', (p) => `t.check_id = ${p}`],
  ['tags', 'text[]', (p) => hasTags('t.connection_id', p)],
  ['since', 'timestamptz', (p) => `t.number >= ticket_place_at($1, 0, ${p})`],
  ['before', 'timestamptz', (p) => `t.number < ticket_place_at($1, 0, ${p})`],
];

/** SQL: the conditions of a filter, with the parameters $2 to $8. What is any does not keep the planner from an index. */
function conditions(filter: TicketFilter): string {
  return CONDITIONS.map(([name, type, condition], n) =>
    filter[name] === null ? `and $${n + 2}::${type} is null` : `and ${condition(`$${n + 2}`)}`,
  ).join('\n     ');
}

/** SQL: whether a number lies below a parameter, so that a page begins there. */
const isBelow = (number: string, parameter: string, below: number | null) =>
  below === null ? `${parameter}::bigint is null` : `${number} < ${parameter}`;

const filterValues = (accountId: number, filter: TicketFilter) => [
  accountId,
  ...CONDITIONS.map(([name]) => filter[name]),
];

/** The tickets of a filter, the latest first seen first. */
export function listChosenTickets(
  read: Read,
  accountId: number,
  filter: TicketFilter,
  { below, limit, offset }: Limits,
): Promise<PlacedTicket[]> {
  const statement = `
  select ${columns}, t.number
    from ticket t
   where t.account_id = $1
     and ${isBelow('t.number', '$9', below)}
     ${conditions(filter)}
   order by t.number desc
   limit $10 offset $11`;
  return read(statement, [...filterValues(accountId, filter), below, limit, offset]);
}

/** How many tickets a filter has, to `most` at most; the account's latest instant; and whether the end of the range is in the future. */
export async function countChosenTickets(
  read: Read,
  accountId: number,
  filter: TicketFilter,
  most: number,
): Promise<{ total: number; newest: string | null; ends_open: boolean }> {
  const statement = `
  select count(*) as total,
         (select to_char(first_seen_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
            from ticket where account_id = $1 order by number desc limit 1) as newest,
         coalesce($8::timestamptz > clock_timestamp(), true) as ends_open
    from (select
            from ticket t
           where t.account_id = $1
             ${conditions(filter)}
           limit $9) counted`;
  const [row] = await read<{ total: number; newest: string | null; ends_open: boolean }>(statement, [
    ...filterValues(accountId, filter),
    most,
  ]);
  return row ?? { total: 0, newest: null, ends_open: true };
}

// Times never decrease as numbers grow, so the first change of a time has the lowest number.
const updates = (filter: TicketFilter) => `
    from ticket_update u
    join ticket t on t.account_id = $1 and t.ticket_id = u.ticket_id
   where u.account_id = $1
     and u.number > $9
     and u.number >= case when $10::timestamptz is null then 0
                          else coalesce((select f.number from ticket_update f
                                          where f.account_id = $1 and f.updated_at >= $10
                                          order by f.updated_at, f.number limit 1), 9223372036854775807) end
     ${conditions(filter)}`;

/** The tickets of a filter in the order of their last changes. */
export function listUpdatedTickets(
  read: Read,
  accountId: number,
  filter: TicketFilter,
  page: UpdateRange & Limits & { order: 'asc' | 'desc' },
): Promise<UpdatedTicket[]> {
  const { after, updatedSince, below, order, limit, offset } = page;
  const statement = `
  select ${columns}, u.number, u.updated_at
  ${updates(filter)}
     and ${isBelow('u.number', '$11', below)}
   order by u.number ${order}
   limit $12 offset $13`;
  return read(statement, [...filterValues(accountId, filter), after, updatedSince, below, limit, offset]);
}

/** How many tickets these are, to `most` at most. */
export async function countUpdatedTickets(
  read: Read,
  accountId: number,
  filter: TicketFilter,
  { after, updatedSince, most }: UpdateRange & { most: number },
): Promise<number> {
  const statement = `select count(*) as total from (select ${updates(filter)} limit $11) counted`;
  const values = [...filterValues(accountId, filter), after, updatedSince, most];
  const [row] = await read<{ total: number }>(statement, values);
  return row?.total ?? 0;
}

/** What a ticket shows on request. */
export interface TicketDetails {
  id: number;
  /** '' = the whole server. */
  database: string;
  measured: { metric: string; value: number; operator: string; threshold: number } | null;
  tags: string[];
  /** Null unless it is acknowledged: then until it ends by time, which the caller compares. */
  acknowledged_at: Date | null;
  snoozed_until: Date | null;
  assignee_id: number | null;
}

const selectDetails = `
  select t.ticket_id as id, t.database, t.measured, ${tagsOfConnection} as tags,
         case when a.holds then g.acknowledged_at end as acknowledged_at,
         case when a.holds then g.acknowledged_until end as snoozed_until,
         (select m.member_id from member m where m.account_id = $1 and m.member_id = g.assignee_id) as assignee_id
    from ticket t
    join connection c on c.account_id = $1 and c.connection_id = t.connection_id
    left join ticket_triage g on g.account_id = $1 and g.ticket_id = t.ticket_id
   cross join lateral (select ${isAcknowledged(`'-infinity'::timestamptz`)} as holds) a
   where t.account_id = $1 and t.ticket_id = any($2::bigint[])`;

/** What tickets show on request, by ticket. */
export async function readTicketDetails(
  read: Read,
  accountId: number,
  ids: readonly number[],
): Promise<Map<number, TicketDetails>> {
  const rows = await read<TicketDetails>(selectDetails, [accountId, ids]);
  return new Map(rows.map((row) => [row.id, row]));
}
