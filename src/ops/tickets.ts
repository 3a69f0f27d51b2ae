import { Type } from 'typebox';
import { endpoint, nullable } from '../http/endpoint.ts';
import { resourceNotFound } from '../http/errors.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../http/paging.ts';
import { rangeParameters, readRange } from '../http/range-parameters.ts';

const Ticket = Type.Object({
  id: Type.Integer(),
  connection_id: Type.Integer({ description: 'the connection that it belongs to' }),
  connection_name: Type.String({ description: "the connection's name; its last one after removal" }),
  check_id: Type.String({ description: 'code of the check that found it' }),
  category: Type.String({ description: 'check category' }),
  title: Type.String(),
  object: nullable(Type.String({ description: 'the faulty object; null for the whole server' })),
  severity: Type.String({ description: 'critical, warning or info' }),
  status: Type.String({ description: 'open or resolved' }),
  metric_line: Type.String({ description: 'measured value with recommendation' }),
  remediation: Type.String({ description: 'suggested corrective statement' }),
  first_seen_at: Type.String({ format: 'date-time' }),
  last_seen_at: Type.String({ format: 'date-time' }),
  resolved_at: nullable(Type.String({ format: 'date-time', description: 'null while open' })),
});

const filters = {
  status: Type.Optional(
    Type.String({ enum: ['open', 'resolved'], description: 'status must be open or resolved.' }),
  ),
  severity: Type.Optional(
    Type.String({
      enum: ['critical', 'warning', 'info'],
      description: 'severity must be critical, warning or info.',
    }),
  ),
  connection_id: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]*$',
      description: 'connection_id must be a whole number, 1 or more.',
    }),
  ),
};

const findConnection = `
  select 1 from connection where account_id = $1 and connection_id = $2 and removed_at is null`;

const chosen = `
    from ticket t
   where t.account_id = $1
     and ($2::text is null or t.status = $2)
     and ($3::text is null or t.severity = $3)
     and ($4::bigint is null or t.connection_id = $4)
     and ($5::timestamptz is null or t.first_seen_at >= $5)
     and ($6::timestamptz is null or t.first_seen_at < $6)`;

// first_seen_at is given out under the lock of the account's log, so no ticket that comes later is seen first at or
// before the newest one there is: that instant pins the pages.
const countTickets = `
  select count(*) as total,
         (select to_char(max(first_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            from ticket where account_id = $1) as newest,
         coalesce($6 > clock_timestamp(), true) as ends_open
  ${chosen}`;

const listTickets = `
  select t.ticket_id as id,
         t.connection_id,
         (select c.name from connection c
           where c.account_id = t.account_id and c.connection_id = t.connection_id) as connection_name,
         t.check_id, t.category, t.title, t.object, t.severity, t.status, t.metric_line, t.remediation,
         t.first_seen_at, t.last_seen_at, t.resolved_at
  ${chosen}
   order by t.first_seen_at desc, t.ticket_id desc
   limit $7 offset $8`;

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

/** Endpoint 4: the account's tickets, latest first; the filters combine. */
export const tickets = endpoint({
  path: '/ops/tickets',
  summary: 'Tickets, latest first',
  query: Type.Object({ ...filters, ...rangeParameters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(Ticket), meta: Meta }),
  reuse: 'kept',
  async answer(read, { accountId, query, url }) {
    const page = readPage(query);
    const { since, before } = readRange(query);
    const connectionId = query.connection_id ?? null;
    if (connectionId !== null) {
      const known =
        Number(connectionId) <= Number.MAX_SAFE_INTEGER
          ? await read(findConnection, [accountId, connectionId])
          : [];
      if (known.length === 0) throw resourceNotFound;
    }
    const values = [accountId, query.status ?? null, query.severity ?? null, connectionId, since, before];
    const [count] = await read<{ total: number; newest: string; ends_open: boolean }>(countTickets, values);
    const total = count?.total ?? 0;
    const rows =
      page.offset < total ? await read<TicketRow>(listTickets, [...values, page.perPage, page.offset]) : [];
    const data = rows.map((row) => ({
      ...row,
      first_seen_at: row.first_seen_at.toISOString(),
      last_seen_at: row.last_seen_at.toISOString(),
      resolved_at: row.resolved_at?.toISOString() ?? null,
    }));
    const pin = total > 0 && count?.ends_open ? count.newest : undefined;
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total, pin) };
  },
});
