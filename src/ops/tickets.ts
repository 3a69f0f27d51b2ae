import { Type } from 'typebox';
import { one } from '../database/one.ts';
import { endpoint, nullable } from '../http/endpoint.ts';
import { resourceNotFound } from '../http/errors.ts';
import { closedSet, identifier, timestamp } from '../http/fields.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../http/paging.ts';
import { oneOf, wholeNumber } from '../http/query-parameters.ts';
import { rangeParameters, readRange } from '../http/range-parameters.ts';
import { SEVERITIES } from '../vocabulary/severities.ts';
import { ticketStatements } from './ticket-places.sql.ts';

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

const findConnection = `
  select 1 from connection where account_id = $1 and connection_id = $2 and removed_at is null`;

interface Places {
  below: number;
  upto: number;
  newest: string;
  ends_open: boolean;
}

interface Span {
  last: number;
  first: number;
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
    if (connectionId !== 0) {
      const known =
        connectionId <= Number.MAX_SAFE_INTEGER ? await read(findConnection, [accountId, connectionId]) : [];
      if (known.length === 0) throw resourceNotFound;
    }
    const { count, span, list } = ticketStatements(query);
    const of = [accountId, connectionId];
    const places = one(await read<Places>(count, [...of, since, before]), 'count the tickets');
    const total = places.upto - places.below;
    const rows: TicketRow[] = [];
    if (page.offset < total) {
      const first = places.upto - page.offset;
      const last = Math.max(first - page.perPage, places.below) + 1;
      const [at] = span === null ? [{ last, first }] : await read<Span>(span, [...of, last, first]);
      if (at) rows.push(...(await read<TicketRow>(list, [...of, at.last, at.first])));
    }
    const data = rows.map((row) => ({
      ...row,
      first_seen_at: row.first_seen_at.toISOString(),
      last_seen_at: row.last_seen_at.toISOString(),
      resolved_at: row.resolved_at?.toISOString() ?? null,
    }));
    const pin = total > 0 && places.ends_open ? places.newest : undefined;
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total, pin) };
  },
});
