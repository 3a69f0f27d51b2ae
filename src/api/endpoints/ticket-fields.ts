import { closedSet, count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import type { Read } from '../../store/read.ts';
import {
  type ChosenTicket,
  readTicketDetails,
  type UpdatedTicket,
} from '../../tickets/triage/list-chosen-tickets.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { serviceUrl } from './connection-fields.ts';
import { measuredFields, toMeasuredFields } from './measured-fields.ts';

export const STATUSES = ['open', 'resolved'];

export const Ticket = Type.Object(
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
    ...measuredFields,
    database: Type.Optional(
      nullable(
        Type.String({ description: 'the database; null for the whole server; with `include=measured`' }),
      ),
    ),
    acknowledged_at: Type.Optional(
      nullable(
        timestamp('when a member acknowledged it, while that holds; null if not; with `include=triage`'),
      ),
    ),
    snoozed_until: Type.Optional(
      nullable(
        timestamp('until when the acknowledgement holds; null until the ticket ends; with `include=triage`'),
      ),
    ),
    assignee_id: Type.Optional(
      nullable(identifier('the member who works on it; null if nobody does; with `include=triage`')),
    ),
    tags: Type.Optional(
      Type.Array(Type.String(), { description: 'tags of the connection; with `include=tags`' }),
    ),
    url: Type.Optional(Type.String({ description: "the ticket's page in the console; with `include=url`" })),
    updated_at: Type.Optional(
      timestamp('time of the last change; with `updated_since`, `after_update` or `order`'),
    ),
  },
  { title: 'Ticket', description: 'the history of a finding' },
);

/** `meta` of the tickets. */
export const TicketMeta = Type.Object(
  {
    total: count(
      'total number of records; with `tag`, `check_id`, `updated_since`, `after_update`, `order` or `after` more than 10000 are not counted: it is then 10001',
    ),
    page: Type.Integer({ minimum: 1, description: 'current page' }),
    per_page: Type.Integer({ minimum: 1, description: 'page size used' }),
    has_more: Type.Boolean({ description: 'true if more pages follow' }),
    after_update: Type.Optional(
      Type.String({
        description: '`after_update` of what follows this page, now or later; only with `order=asc`',
      }),
    ),
  },
  { title: 'TicketMeta', description: 'position of a page in the list of tickets' },
);

export const INCLUDED = ['measured', 'triage', 'tags', 'url'] as const;

type Include = readonly (typeof INCLUDED)[number][] | undefined;

/** The tickets of rows, with the fields of `include`. `url` is that of the request. */
export async function toTickets(
  read: Read,
  accountId: number,
  rows: readonly (ChosenTicket | UpdatedTicket)[],
  { include, url }: { include: Include; url: string },
): Promise<Static<typeof Ticket>[]> {
  const needsDetails = include?.some((part) => part !== 'url') === true && rows.length > 0;
  const details = needsDetails
    ? await readTicketDetails(
        read,
        accountId,
        rows.map(({ id }) => id),
      )
    : null;
  return rows.map((row) => {
    const of = details?.get(row.id);
    return {
      ...toTicket(row),
      ...(include?.includes('measured') && {
        ...toMeasuredFields(of?.measured),
        database: of?.database || null,
      }),
      ...(include?.includes('triage') && {
        acknowledged_at: of?.acknowledged_at?.toISOString() ?? null,
        snoozed_until: of?.snoozed_until?.toISOString() ?? null,
        assignee_id: of?.assignee_id ?? null,
      }),
      ...(include?.includes('tags') && { tags: of?.tags ?? [] }),
      ...(include?.includes('url') && { url: serviceUrl(url) + PAGE_LINKS.ticket(row.id) }),
      ...('updated_at' in row && { updated_at: row.updated_at.toISOString() }),
    };
  });
}

function toTicket(row: ChosenTicket): Static<typeof Ticket> {
  return {
    id: row.id,
    connection_id: row.connection_id,
    connection_name: row.connection_name,
    check_id: row.check_id,
    category: row.category,
    title: row.title,
    object: row.object,
    severity: row.severity,
    status: row.status,
    metric_line: row.metric_line,
    remediation: row.remediation,
    first_seen_at: row.first_seen_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
  };
}
