import { type Static, Type } from 'typebox';
import type { ConnectionThresholds } from '../../connections/connection-thresholds.ts';
import { nullable } from '../../http/endpoint.ts';
import { identifier, timestamp } from '../../http/fields.ts';
import { stringEnum } from '../../http/string-enum.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { notFound } from '../../vocabulary/rejection.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { explained, JudgedBy } from '../connections/findings.ts';
import { FaultMeasure } from '../measures/measure-schemas.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** A ticket with its history. It contains untrusted text of the monitored server: render it as text. */
export const TicketDetail = Type.Object({
  id: identifier('ticket identifier'),
  connection_id: identifier('the connection'),
  connection_name: Type.String(),
  /** The connection was removed and has no page any more. */
  connection_removed: Type.Boolean(),
  check_id: Type.String(),
  category: Type.String(),
  title: Type.String(),
  /** '' for the whole server. */
  database: Type.String(),
  object: nullable(Type.String()),
  severity: stringEnum(...SEVERITIES),
  status: stringEnum('open', 'resolved'),
  metric_line: Type.String(),
  /** The number that it comes from; null if it comes from none, or if it is older than these numbers. */
  measured: nullable(FaultMeasure),
  thresholds: Type.Array(JudgedBy),
  why: Type.String(),
  sql: Type.String(),
  lock: nullable(Type.String()),
  first_seen_at: timestamp('when it was found first'),
  last_seen_at: timestamp('when it was found last'),
  /** Each time it was reopened, oldest first. */
  reopened_at: Type.Array(timestamp('when it came back')),
  resolved_at: nullable(timestamp('null while open')),
  /** Why it was resolved; null while open. */
  resolution: nullable(Type.String()),
});

export type TicketDetail = Static<typeof TicketDetail>;

const selectTicket = `
  select t.ticket_id as id, t.connection_id, c.name as connection_name, c.removed_at is not null as connection_removed,
         t.check_id, t.category, t.title, t.database, t.object, t.severity, t.status, t.metric_line, t.measured, t.remediation,
         t.first_seen_at, t.last_seen_at, t.reopened_at, t.resolved_at,
         case when t.status = 'resolved' then t.resolution end as resolution,
         c.engine, c.thresholds
    from ticket t
    join connection c on c.account_id = t.account_id and c.connection_id = t.connection_id
   where t.account_id = $1 and t.ticket_id = $2`;

interface TicketRow
  extends Omit<
    TicketDetail,
    'first_seen_at' | 'last_seen_at' | 'reopened_at' | 'resolved_at' | 'thresholds' | 'why' | 'sql' | 'lock'
  > {
  remediation: string;
  first_seen_at: Date;
  last_seen_at: Date;
  reopened_at: Date[];
  resolved_at: Date | null;
  engine: Engine;
  thresholds: ConnectionThresholds;
}

const getTicket = consoleRoute({
  method: 'GET',
  path: '/tickets/:id',
  permission: 'tickets:read',
  response: TicketDetail,
  async handler({ actor: { accountId }, id, read }) {
    const [row] = await read((run) => run<TicketRow>(selectTicket, [accountId, id]));
    if (!row) throw notFound;
    const { engine, thresholds, remediation, ...ticket } = row;
    return {
      ...ticket,
      ...explained({ engine, thresholds }, ticket.check_id, remediation),
      first_seen_at: ticket.first_seen_at.toISOString(),
      last_seen_at: ticket.last_seen_at.toISOString(),
      reopened_at: ticket.reopened_at.map((at) => at.toISOString()),
      resolved_at: ticket.resolved_at?.toISOString() ?? null,
    };
  },
});

export const ticketRoutes: ConsoleRoute[] = [getTicket];
