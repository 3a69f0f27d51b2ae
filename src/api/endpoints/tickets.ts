import { type EndpointRequest, endpoint } from '../../http/endpoint.ts';
import { resourceNotFound } from '../../http/errors.ts';
import {
  COUNTED,
  cursorMark,
  isNumber,
  keysetParameters,
  readCounted,
  readCursor,
  writeCursor,
  writeLinks,
} from '../../http/keyset.ts';
import { type Page, pageLinks, pageMeta, readPage } from '../../http/paging.ts';
import { oneOf, someOf, text, wholeNumber } from '../../http/query-parameters.ts';
import { dateOrTime, rangeParameters, readRange } from '../../http/range-parameters.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { dateRange } from '../../platform/text/date-range.ts';
import type { Read } from '../../store/read.ts';
import { ticketPage } from '../../tickets/ticket-places.sql.ts';
import {
  type ChosenTicket,
  countChosenTickets,
  countUpdatedTickets,
  listChosenTickets,
  listUpdatedTickets,
  type TicketFilter,
} from '../../tickets/triage/list-chosen-tickets.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { readOfConnection } from './path-connection.ts';
import { tagParameter } from './tag-parameter.ts';
import { INCLUDED, STATUSES, Ticket, TicketMeta, toTickets } from './ticket-fields.ts';

const filters = {
  status: oneOf('status', 'Restricts to tickets of this status.', STATUSES),
  severity: oneOf('severity', 'Restricts to tickets of this severity.', SEVERITIES),
  connection_id: wholeNumber(
    'connection_id',
    'Restricts to one connection. 404 if the account has no such connection.',
    { minimum: 1 },
  ),
};

const Parameters = Type.Object({
  ...filters,
  ...tagParameter,
  check_id: text(
    'check_id',
    'Restricts to tickets of this check. An unknown one returns an empty list.',
    'must be the code of a check.',
    { minLength: 1 },
    { minLength: 1 },
  ),
  ...rangeParameters,
  updated_since: dateOrTime(
    'updated_since',
    'Restricts to tickets that changed at or after this time, and lists them by their last change.',
  ),
  order: oneOf(
    'order',
    'Lists tickets by their last change: the latest first, or last. A mirror uses `order=asc` with `after_update`.',
    ['desc', 'asc'],
  ),
  after_update: text(
    'after_update',
    'Returns only tickets that changed after what had this cursor, `meta.after_update` of an earlier answer. With `order=asc` it never misses or repeats a change.',
    'must be the cursor that an earlier answer gave.',
    { minLength: 1 },
    { minLength: 1 },
  ),
  include: someOf('include', 'Adds fields to each ticket.', INCLUDED),
  ...keysetParameters,
});

/** The first row of a page. */
interface HeadRow {
  id: null;
  total: number;
  newest: string;
  ends_open: boolean;
  is_known: boolean;
}

/**
 * Endpoint 4: the account's tickets, latest first; the filters combine. Every page costs the same, however many
 * tickets there are.
 */
export const tickets = endpoint({
  path: '/ops/tickets',
  operationId: 'listTickets',
  summary: 'Tickets, latest first',
  description:
    'By `first_seen_at`, latest first; the filters combine. `from` and `to` apply to `first_seen_at`. The `Link` header pins `to`, so following `next` neither repeats nor misses a ticket, unless you filter by status or severity and that of a ticket changes meanwhile.',
  notFound: 'The account has no connection with this `connection_id`.',
  query: Parameters,
  response: Type.Object({ data: Type.Array(Ticket), meta: TicketMeta }),
  reuse: 'kept',
  isFresh: (query) => isMirror(query) || isChosen(query) || query.include !== undefined,
  wholeUpTo: (query) => readRange(query).before,
  answer(read, request) {
    if (isMirror(request.query)) return listUpdates(read, request);
    return isChosen(request.query) ? listChosen(read, request) : listPlaces(read, request);
  },
});

/** Reads a page by the places of tickets. */
async function listPlaces(read: Read, { accountId, query, url }: EndpointRequest<typeof Parameters>) {
  const page = readPage(query);
  const { since, before } = readRange(query);
  const connectionId = query.connection_id ?? 0;
  const [head, ...rows] = await read<HeadRow | ChosenTicket>(ticketPage(query), [
    accountId,
    connectionId,
    since,
    before,
    Math.min(page.offset, Number.MAX_SAFE_INTEGER),
    page.perPage,
  ]);
  if (head?.id !== null) throw new Error('a page of tickets has no head');
  if (!head.is_known) throw resourceNotFound;
  const { total, newest, ends_open } = head;
  const data = await toTickets(read, accountId, rows as ChosenTicket[], { include: query.include, url });
  const pin = total > 0 && ends_open ? newest : undefined;
  return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total, pin) };
}

const IS_CURSOR = [isNumber];

/**
 * Reads a page of what a tag or a check chooses. They are not counted in tallies, so no more than {@link COUNTED} of them are,
 * and the next page begins after the last row of this one.
 */
async function listChosen(read: Read, { accountId, query, url }: EndpointRequest<typeof Parameters>) {
  const filter = readFilter(query);
  const mark = cursorMark('tickets', accountId);
  const { page, below } = readPlace(query, mark);
  if (query.connection_id !== undefined)
    await readOfConnection(read, accountId, String(query.connection_id), async () => {});
  const head = countChosenTickets(read, accountId, filter, COUNTED + 1);
  const { rows, hasMore } = await readCounted(page, (limits) =>
    Promise.all([
      head.then(({ total }) => total),
      listChosenTickets(read, accountId, filter, { below, ...limits }),
    ]),
  );
  const data = await toTickets(read, accountId, rows, { include: query.include, url });
  const { total, newest, ends_open } = await head;
  const pin = total > 0 && ends_open && newest !== null ? { to: newest } : {};
  const next = hasMore ? { after: writeCursor(mark, [rows.at(-1)?.number ?? 0]) } : null;
  return {
    body: { data, meta: listMeta(page, total, hasMore) },
    link: chosenLinks(url, page, { total, pin, next }),
  };
}

/** Reads a page of what changed, by the order of changes. */
async function listUpdates(read: Read, { accountId, query, url }: EndpointRequest<typeof Parameters>) {
  const filter = readFilter(query);
  const isAscending = query.order === 'asc';
  const mark = cursorMark('ticket updates', accountId);
  const [place = '0'] =
    query.after_update === undefined ? [] : readCursor(query.after_update, 'after_update', mark, IS_CURSOR);
  // In this order `after_update` begins a page, so no list gives a cursor of the other kind.
  const latestMark = cursorMark(isAscending ? 'none' : 'latest ticket updates', accountId);
  const { page, below } = readPlace(query, latestMark);
  if (query.connection_id !== undefined)
    await readOfConnection(read, accountId, String(query.connection_id), async () => {});
  const range = {
    after: Number(place),
    updatedSince: dateRange(query.updated_since, undefined)?.since ?? null,
  };
  const { counted, rows, hasMore } = await readCounted(page, (limits) =>
    Promise.all([
      countUpdatedTickets(read, accountId, filter, { ...range, most: COUNTED + 1 }),
      listUpdatedTickets(read, accountId, filter, {
        ...range,
        below,
        order: isAscending ? 'asc' : 'desc',
        ...limits,
      }),
    ]),
  );
  const last = rows.at(-1)?.number ?? place;
  const cursor = isAscending ? { after_update: writeCursor(mark, [last]) } : {};
  const next = isAscending
    ? { ...cursor, page: 1 }
    : { page: page.page + 1, after: writeCursor(latestMark, [last]) };
  return {
    body: {
      data: await toTickets(read, accountId, rows, { include: query.include, url }),
      meta: { ...listMeta(page, counted, hasMore), ...cursor },
    },
    link: writeLinks(url, page.perPage, [
      ['first', { page: 1, after: null }],
      ...(hasMore ? ([['next', next]] as const) : []),
    ]),
  };
}

/** Where a page begins: below the number of its cursor, or after the pages before it. */
function readPlace(query: Query, mark: string): { page: Page; below: number | null } {
  const page = readPage(query);
  if (query.after === undefined) return { page, below: null };
  const [number] = readCursor(query.after, 'after', mark, IS_CURSOR);
  return { page: { ...page, offset: 0 }, below: Number(number) };
}

const listMeta = ({ page, perPage }: Page, total: number, hasMore: boolean) => ({
  total,
  page,
  per_page: perPage,
  has_more: hasMore,
});

interface ChosenPlace {
  total: number;
  pin: { to?: string };
  /** The cursor of the next page; null on the last. */
  next: { after: string } | null;
}

/** The Link header of a list of chosen tickets. Only what is counted has a page before and a last one. */
function chosenLinks(url: string, { page, perPage }: Page, { total, pin, next }: ChosenPlace): string {
  const link = (relation: string, to: number) => [relation, { ...pin, page: to, after: null }] as const;
  const last = Math.max(Math.ceil(total / perPage), 1);
  const isCounted = total <= COUNTED;
  return writeLinks(url, perPage, [
    link('first', 1),
    ...(isCounted && page > 1 ? [link('prev', Math.min(page - 1, last))] : []),
    ...(next === null ? [] : [['next', { ...pin, page: page + 1, ...next }] as const]),
    ...(isCounted ? [link('last', last)] : []),
  ]);
}

type Query = Static<typeof Parameters>;

const isChosen = ({ tag, check_id, after }: Query) =>
  tag !== undefined || check_id !== undefined || after !== undefined;
const isMirror = ({ updated_since, after_update, order }: Query) =>
  updated_since !== undefined || after_update !== undefined || order !== undefined;

function readFilter(query: Query): TicketFilter {
  return {
    status: query.status ?? null,
    severity: query.severity ?? null,
    connectionId: query.connection_id ?? null,
    // Text in PostgreSQL can't contain NUL, so no check does.
    checkId: query.check_id?.replaceAll('\0', '\uFFFD') ?? null,
    tags: query.tag ?? null,
    ...readRange(query),
  };
}
