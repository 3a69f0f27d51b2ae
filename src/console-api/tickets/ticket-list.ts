import { titleOf } from '../../checks/catalogue.ts';
import { readTags } from '../../connections/tags/connection-tags.ts';
import { wholeNumber } from '../../http/query-parameters.ts';
import { rangeParameters, readRange } from '../../http/range-parameters.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { normalisedTag, tagFilter } from '../../platform/text/tags.ts';
import type { Read } from '../../store/read.ts';
import { countTickets } from '../../tickets/triage/count-tickets.ts';
import { type ListedTicket, listTickets, type TicketChoice } from '../../tickets/triage/list-tickets.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import {
  MOST_TICKETS,
  TICKET_GROUPS,
  TICKET_LISTS,
  TICKET_SORTS,
  TICKET_STATES,
  type TicketGroup,
  type TicketListName,
  type TicketSort,
} from '../../vocabulary/ticket-lists.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

const PAGE = 100;
const MOST_WORDS = 10;

const names = <Name extends string>(of: Record<Name, unknown>) => Object.keys(of) as Name[];

/** The filters whose values have no counts. */
const narrowing = {
  connection_id: wholeNumber('connection_id', 'Restricts to one connection.', { minimum: 1 }),
  /** `me`, `nobody`, or a member's id. */
  assignee: Type.Optional(
    Type.String({
      pattern: '^(?:me|nobody|[1-9][0-9]{0,14})$',
      description: 'assignee must be me, nobody or the id of a member.',
    }),
  ),
  /** Tags of the connection, separated by commas, as in `tagFilter`. */
  tags: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
  /** Words that all occur in title, object, measured text or connection. */
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: String.raw`^[^\0]*$`,
      description: 'q must be 1 to 200 characters.',
    }),
  ),
  ...rangeParameters,
};

const choice = {
  ...narrowing,
  /** Default: open. */
  list: Type.Optional(stringEnum(...names<TicketListName>(TICKET_LISTS))),
  severity: Type.Optional(stringEnum(...SEVERITIES)),
  /** Only tickets with a comment that mentions the member. */
  mentioned: Type.Optional(stringEnum('me')),
  group: Type.Optional(stringEnum(...TICKET_GROUPS)),
  /** Default: first_seen, the newest first. */
  sort: Type.Optional(stringEnum(...names<TicketSort>(TICKET_SORTS))),
  reverse: Type.Optional(stringEnum('1')),
};

const TicketRow = Type.Object({
  id: identifier('ticket identifier'),
  connection_id: identifier('the connection'),
  connection_name: Type.String(),
  check_id: Type.String(),
  title: Type.String(),
  object: nullable(Type.String()),
  severity: stringEnum(...SEVERITIES),
  state: stringEnum(...TICKET_STATES),
  metric_line: Type.String(),
  first_seen_at: timestamp('when it was found first'),
  last_seen_at: timestamp('when it was found last'),
  resolved_at: nullable(timestamp('null while open')),
  /** Of its triage, for a change; 0 = nobody has changed it. */
  version: count('version'),
  assignee: nullable(Type.Object({ id: identifier('member'), name: Type.String() })),
  /** Who acknowledged, snoozed or silenced it; null = nobody, or unknown. */
  by: nullable(Type.String()),
  /** The end of a snooze or silence. */
  until: nullable(timestamp('null = none')),
  comments: count('comments'),
  /** Null = the list is not grouped. */
  group: nullable(
    Type.Object({
      /** Null = the tickets without one, such as those that nobody is assigned to. */
      key: nullable(Type.String()),
      label: nullable(Type.String()),
      size: count('tickets of the group'),
    }),
  ),
});

export const TicketPage = Type.Object({
  data: Type.Array(TicketRow),
  /** How many tickets match; 0 on a page past the end. */
  total: count('tickets'),
  /** Of the next page; null = this is the last one. */
  next: nullable(Type.Integer()),
  /** So many tickets were looked at that older ones may be missing. */
  limited: Type.Boolean(),
});

const TicketIds = Type.Object({
  data: Type.Array(Type.Object({ id: identifier('ticket identifier'), version: count('version') })),
  total: count('tickets that match'),
});

export type TicketRow = Static<typeof TicketRow>;
export type TicketPage = Static<typeof TicketPage>;
export type TicketIds = Static<typeof TicketIds>;

/**
 * What a list costs. A search, an order that no index has, and a list with resolved tickets read up to 50,000. The list is read again after each
 * triage of a ticket: in a sorted one, 60 a minute stay below the session's budget.
 */
export function costOf({ q, group, sort = 'first_seen', list }: Readonly<Record<string, unknown>>): number {
  if (q !== undefined) return 10;
  return group !== undefined || sort !== 'first_seen' || list === 'all' || list === 'resolved' ? 5 : 2;
}

const getTickets = consoleRoute({
  method: 'GET',
  path: '/tickets',
  permission: 'tickets:read',
  query: Type.Object({
    ...choice,
    page: wholeNumber('page', 'The page, of 100 tickets.', { minimum: 1, maximum: 1_000 }),
  }),
  response: TicketPage,
  cost: costOf,
  async handler({ actor: { accountId, memberId }, query: { page = 1, ...query }, read }) {
    const skip = (page - 1) * PAGE;
    const chosen = chosenBy(query, memberId);
    const { tickets, total, limited } = await read(async (run) =>
      listTickets(run, accountId, await taggedBy(run, accountId, chosen, query), { limit: PAGE, skip }),
    );
    return {
      data: tickets.map((row) => shown(row, chosen)),
      total,
      next: total > skip + PAGE ? page + 1 : null,
      limited,
    };
  },
});

const getTicketIds = consoleRoute({
  method: 'GET',
  path: '/tickets/ids',
  permission: 'tickets:read',
  query: Type.Object(choice),
  response: TicketIds,
  cost: costOf,
  async handler({ actor: { accountId, memberId }, query, read }) {
    const chosen = chosenBy(query, memberId);
    const all = { limit: MOST_TICKETS, skip: 0 };
    const { tickets, total } = await read(async (run) =>
      listTickets(run, accountId, await taggedBy(run, accountId, chosen, query), all),
    );
    return { data: tickets.map(({ id, version }) => ({ id, version })), total };
  },
});

const TicketCounts = Type.Object({
  /** The filters lead to these numbers of tickets. What no ticket has is missing. */
  data: Type.Array(
    Type.Object({
      state: stringEnum(...TICKET_STATES),
      severity: stringEnum(...SEVERITIES),
      /** Whether a comment mentions the member. */
      mentioned: Type.Boolean(),
      count: count('tickets'),
    }),
  ),
});

export type TicketCounts = Static<typeof TicketCounts>;

const getTicketCounts = consoleRoute({
  method: 'GET',
  path: '/tickets/counts',
  permission: 'tickets:read',
  query: Type.Object(narrowing),
  response: TicketCounts,
  cost: (query) => costOf({ ...query, list: 'all' }),
  async handler({ actor: { accountId, memberId }, query, read }) {
    const chosen = chosenBy(query, memberId);
    const data = await read(async (run) =>
      countTickets(run, accountId, memberId, await taggedBy(run, accountId, chosen, query)),
    );
    return { data };
  },
});

/** The list of tickets, sorted, grouped and searched, and its counts. */
export const ticketListRoutes: ConsoleRoute[] = [getTickets, getTicketIds, getTicketCounts];

type Choice = Static<ReturnType<typeof Type.Object<typeof choice>>>;

function chosenBy(query: Choice, memberId: number): TicketChoice {
  const {
    list = 'open',
    severity,
    connection_id,
    assignee,
    mentioned,
    q,
    group,
    sort = 'first_seen',
    reverse,
  } = query;
  return {
    ...readRange(query),
    list,
    sort,
    severity: severity ?? null,
    group: group ?? null,
    reverse: reverse === '1',
    connectionId: connection_id ?? null,
    assignee:
      assignee === undefined
        ? 'anybody'
        : assignee === 'me'
          ? memberId
          : assignee === 'nobody'
            ? assignee
            : Number(assignee),
    connectionIds: null,
    mentioned: mentioned === undefined ? null : memberId,
    words: (q?.trim().split(/\s+/) ?? []).filter((word) => word !== '').slice(0, MOST_WORDS),
  };
}

/** The choice, restricted to the connections that pass its filter of tags. */
async function taggedBy(
  run: Read,
  accountId: number,
  chosen: TicketChoice,
  { tags }: Choice,
): Promise<TicketChoice> {
  if (tags === undefined) return chosen;
  const wanted = tags.split(',').map((tag) => normalisedTag(tag) ?? tag);
  const passes = tagFilter(wanted);
  const tagged = [...(await readTags(run, accountId))].filter(([, of]) => passes(of));
  return { ...chosen, connectionIds: tagged.map(([id]) => id) };
}

function labelOf(row: ListedTicket, group: TicketGroup): string | null {
  if (group === 'check') return titleOf(row.check_id) ?? row.check_id;
  if (group === 'connection') return row.connection_name;
  return group === 'assignee' ? row.assignee_name : row.group_key;
}

function shown(row: ListedTicket, { group }: TicketChoice): TicketRow {
  const { id, connection_id, connection_name, check_id, title, object, severity, state, metric_line } = row;
  const { version, assignee_id, assignee_name, resolved_at, comments } = row;
  return {
    id,
    connection_id,
    connection_name,
    check_id,
    title,
    object,
    severity,
    state,
    metric_line,
    version,
    comments,
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    resolved_at: resolved_at?.toISOString() ?? null,
    assignee: assignee_id === null ? null : { id: assignee_id, name: assignee_name ?? '' },
    by: row.acknowledged_by ?? row.silenced_by,
    until: (row.acknowledged_until ?? row.silenced_until)?.toISOString() ?? null,
    group: group === null ? null : { key: row.group_key, label: labelOf(row, group), size: row.group_size },
  };
}
