import type pg from 'pg';
import type { Finding } from '../checks/check.ts';
import {
  type ChangedTicketFacts,
  changedFacts,
  type TicketEntry,
} from '../notifications/outbox/ticket-events.ts';
import { SEVERITIES, type Severity } from '../vocabulary/severities.ts';
import type { NextTicket, StandingTicket, TicketPlan } from './plan-tickets.ts';

/** The connection of the tickets, and the time of the change (`Change.at`). */
interface Scope {
  accountId: number;
  connectionId: number;
  at: string;
}

// Three reopenings within 24 h keep a flapping ticket open for 24 h after the third. The union has two arms so that
// each uses its index: ticket_open and ticket_resolved.
const standingTickets = `
  with standing as (
    select * from ticket
     where account_id = $1 and connection_id = $2 and status = 'open'
    union all
    select * from ticket
     where account_id = $1 and connection_id = $2 and status = 'resolved'
       and resolved_at > $3::timestamptz - interval '24 h'
  )
  select ticket_id, check_id, database, object, category, title, severity, status, metric_line, remediation,
         clean_runs,
         coalesce(reopened_at[cardinality(reopened_at)] - reopened_at[cardinality(reopened_at) - 2] <= interval '24 h'
              and $3::timestamptz - reopened_at[cardinality(reopened_at)] < interval '24 h', false) as held
    from standing
   order by resolved_at`;

/** The tickets that a run may change: the open ones, and those resolved within the last 24 h. */
export async function listStandingTickets(
  client: pg.ClientBase,
  { accountId, connectionId, at }: Scope,
): Promise<StandingTicket[]> {
  const { rows } = await client.query<StandingTicket>(standingTickets, [accountId, connectionId, at]);
  return rows;
}

const openTickets = `
  insert into ticket as t (account_id, connection_id, check_id, database, object, category, title, severity, status,
                      metric_line, measured, remediation, first_seen_at, last_seen_at)
  select $1, $2, check_id, database, object, category, title, severity, 'open', metric_line, measured, remediation, $3, $3
    from jsonb_to_recordset($4::jsonb)
      as f (check_id text, database text, object text, category text, title text, severity text,
            metric_line text, measured jsonb, remediation text)
  returning ${changedFacts}`;

const changeTickets = `
  update ticket t
     set title        = n.title,
         category     = n.category,
         severity     = n.severity,
         metric_line  = n.metric_line,
         measured     = case when n.seen then n.measured else t.measured end,
         remediation  = n.remediation,
         clean_runs   = n.clean_runs,
         last_seen_at = case when n.seen then $3 else t.last_seen_at end,
         status       = n.status,
         resolved_at  = case when n.status = 'resolved' then $3::timestamptz end,
         resolution   = case when n.status = 'resolved' then 'no longer found' end,
         reopened_at  = case when n.reopened then t.reopened_at || $3::timestamptz else t.reopened_at end
    from jsonb_to_recordset($4::jsonb)
      as n (ticket_id bigint, title text, category text, severity text, metric_line text, measured jsonb, remediation text,
            clean_runs integer, seen boolean, status text, reopened boolean, severity_before text)
   where t.account_id = $1 and t.connection_id = $2 and t.ticket_id = n.ticket_id
  returning ${changedFacts}, t.status, n.reopened, n.severity_before`;

/**
 * Updates a connection's tickets with the findings of a run, in at most two statements, and returns the entries to
 * record. `plan` comes from `planTickets`, with the tickets of `listStandingTickets`. first_seen_at is
 * `Change.at`, so tickets are ordered as they were committed, which stable pages of the list need.
 */
export async function recordFindings(
  client: pg.ClientBase,
  scope: Scope,
  { opened, changed }: TicketPlan,
): Promise<TicketEntry[]> {
  return [...(await open(client, scope, opened)), ...(await change(client, scope, changed))];
}

async function open(client: pg.ClientBase, scope: Scope, opened: Finding[]): Promise<TicketEntry[]> {
  if (opened.length === 0) return [];
  const values = [scope.accountId, scope.connectionId, scope.at, JSON.stringify(opened)];
  const { rows } = await client.query<ChangedTicketFacts>(openTickets, values);
  return rows.map((ticket) => entry('ticket_opened', scope, ticket, {}));
}

async function change(client: pg.ClientBase, scope: Scope, changed: NextTicket[]): Promise<TicketEntry[]> {
  if (changed.length === 0) return [];
  const values = [scope.accountId, scope.connectionId, scope.at, JSON.stringify(changed)];
  const { rows } = await client.query<ChangedTicket>(changeTickets, values);
  return rows.flatMap(({ status, reopened, severity_before: from, ...ticket }) => {
    if (reopened) return [entry('ticket_reopened', scope, ticket, {})];
    if (status === 'resolved') return [resolvedEntry(scope, ticket)];
    const { severity: to } = ticket;
    if (from === to) return [];
    const worse = SEVERITIES.indexOf(to) < SEVERITIES.indexOf(from);
    return [entry(worse ? 'ticket_escalated' : 'ticket_deescalated', scope, ticket, { from, to })];
  });
}

const resolveTickets = `
  update ticket t
     set status = 'resolved', resolved_at = $3, resolution = $4
   where account_id = $1 and connection_id = $2 and status = 'open'
  returning ${changedFacts}`;

/**
 * Resolves every open ticket of a connection for one reason, such as its removal, and returns the entries to record.
 */
export async function resolveConnectionTickets(
  client: pg.ClientBase,
  { reason, ...scope }: Scope & { reason: string },
): Promise<TicketEntry[]> {
  const values = [scope.accountId, scope.connectionId, scope.at, reason];
  const { rows } = await client.query<ChangedTicketFacts>(resolveTickets, values);
  return rows.map((ticket) => resolvedEntry(scope, ticket));
}

const resolveSilenced = `
  update ticket t
     set status = 'resolved', resolved_at = $3, resolution = 'silenced: ' || s.reason
    from silence s
   where t.account_id = $1 and t.connection_id = $2 and t.status = 'open'
     and s.account_id = $1 and s.connection_id = $2 and (s.ends_at is null or s.ends_at > $3)
     and s.check_id = t.check_id and (s.object is null or s.object = t.object)
  returning ${changedFacts}`;

/** Resolves the open tickets of a connection that an active silence covers, and returns the entries to record. */
export async function resolveSilencedTickets(client: pg.ClientBase, scope: Scope): Promise<TicketEntry[]> {
  const values = [scope.accountId, scope.connectionId, scope.at];
  const { rows } = await client.query<ChangedTicketFacts>(resolveSilenced, values);
  return rows.map((ticket) => resolvedEntry(scope, ticket));
}

// The tickets that it resolved when it was added, unless another silence covers them. reopened_at stays: nothing was found again.
const reopenSilenced = `
  update ticket t
     set status = 'open', resolved_at = null, resolution = null
    from silence s
   where s.account_id = $1 and s.connection_id = $2 and s.silence_id = $3
     and t.account_id = $1 and t.connection_id = $2 and t.status = 'resolved'
     and t.resolved_at = s.created_at and t.resolution = 'silenced: ' || s.reason
     and t.check_id = s.check_id and (s.object is null or s.object = t.object)
     and not exists (select from silence o
                      where o.account_id = $1 and o.connection_id = $2 and (o.ends_at is null or o.ends_at > $4)
                        and o.check_id = t.check_id and (o.object is null or o.object = t.object))
  returning ${changedFacts}`;

/** Opens the tickets again that a silence resolved when it was added, and returns the entries to record. */
export async function reopenSilencedTickets(
  client: pg.ClientBase,
  scope: Scope,
  silenceId: number,
): Promise<TicketEntry[]> {
  const values = [scope.accountId, scope.connectionId, silenceId, scope.at];
  const { rows } = await client.query<ChangedTicketFacts>(reopenSilenced, values);
  return rows.map((ticket) => entry('ticket_reopened', scope, ticket, {}));
}

interface ChangedTicket extends ChangedTicketFacts {
  status: string;
  reopened: boolean;
  severity_before: Severity;
}

function resolvedEntry(scope: Scope, ticket: ChangedTicketFacts): TicketEntry {
  const { resolution: reason, resolution_hours } = ticket;
  return entry('ticket_resolved', scope, ticket, { reason, resolution_hours });
}

function entry(
  actionType: TicketEntry['actionType'],
  { connectionId }: Scope,
  ticket: ChangedTicketFacts,
  more: object,
): TicketEntry {
  const { ticket_id, check_id, severity, title } = ticket;
  return {
    actionType,
    pagePath: `/ops/tickets/${ticket_id}`,
    properties: { ticket_id, connection_id: connectionId, check_id, severity, title, ...more },
    ticket,
  };
}
