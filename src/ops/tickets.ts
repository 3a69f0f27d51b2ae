import { endpoint, nullable } from '../http/endpoint.ts';
import { resourceNotFound } from '../http/errors.ts';
import { closedSet, identifier, timestamp } from '../http/fields.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../http/paging.ts';
import { oneOf, wholeNumber } from '../http/query-parameters.ts';
import { rangeParameters, readRange } from '../http/range-parameters.ts';
import { Type } from '../vocabulary/schema.ts';
import { SEVERITIES } from '../vocabulary/severities.ts';
import { ticketPage } from './ticket-places.sql.ts';

const STATUSES = ['open', 'resolved'];

const Ticket = Type.Object(
  {
    id: identifier('ticket identifier'),
    connection_id: identifier('the connection of the ticket'),
    connection_name: Type.String({ description: "the connection's name; its last one after removal" }),
    check_id: Type.String({ description: 'code of the check that found it; an open set' }),
    category: Type.String({ description: 'check category; an open set' }),
    title: Type.String({ description: 'human-readable title' }),
    object: nullable(Type.String({ description: 'the affected object; null for the whole server' })),
    severity: closedSet(SEVERITIES, 'severity of the finding'),
    status: closedSet(STATUSES, 'open until a later health check no longer finds it'),
    metric_line: Type.String({ description: 'measured value with recommendation' }),
    remediation: Type.String({ description: 'suggested corrective statement' }),
    first_seen_at: timestamp('time of the first check that found it'),
    last_seen_at: timestamp('time of the latest check that found it'),
    resolved_at: nullable(timestamp('time of resolution; null while open')),
  },
  { title: 'Ticket', description: 'the history of a finding' },
);

const filters = {
  status: oneOf('status', 'Restricts to tickets of this status.', STATUSES),
  severity: oneOf('severity', 'Restricts to tickets of this severity.', SEVERITIES),
  connection_id: wholeNumber(
    'connection_id',
    'Restricts to one connection. 404 if the account has no such connection.',
    { minimum: 1 },
  ),
};

/** The first row of a page. */
interface HeadRow {
  id: null;
  total: number;
  newest: string;
  ends_open: boolean;
  is_known: boolean;
}

interface TicketRow {
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
  query: Type.Object({ ...filters, ...rangeParameters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(Ticket), meta: Meta }),
  reuse: 'kept',
  wholeUpTo: (query) => readRange(query).before,
  async answer(read, { accountId, query, url }) {
    const page = readPage(query);
    const { since, before } = readRange(query);
    const connectionId = query.connection_id ?? 0;
    const [head, ...rows] = await read<HeadRow | TicketRow>(ticketPage(query), [
      ...[accountId, connectionId, since, before],
      ...[Math.min(page.offset, Number.MAX_SAFE_INTEGER), page.perPage],
    ]);
    if (head?.id !== null) throw new Error('a page of tickets has no head');
    if (!head.is_known) throw resourceNotFound;
    const { total, newest, ends_open } = head;
    const data = (rows as TicketRow[]).map(({ first_seen_at, last_seen_at, resolved_at, ...ticket }) => ({
      ...ticket,
      first_seen_at: first_seen_at.toISOString(),
      last_seen_at: last_seen_at.toISOString(),
      resolved_at: resolved_at?.toISOString() ?? null,
    }));
    const pin = total > 0 && ends_open ? newest : undefined;
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total, pin) };
  },
});
