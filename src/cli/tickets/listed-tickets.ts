import type pg from 'pg';
import { requireAccount } from '../../accounts/account-row.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { notFound } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { type ListedTicket, listTickets, type TicketChoice } from '../../tickets/triage/list-tickets.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import type { TicketListName } from '../../vocabulary/ticket-lists.ts';
import { memberOf } from './ticket-member.ts';

/** The options of `ticket list`. */
export interface ListOptions {
  account: number;
  status?: TicketListName;
  severity?: Severity;
  connection?: number;
  assignee?: string;
  limit?: number;
}

/** A ticket as `ticket list --json` prints it. */
export type PrintedTicket = Omit<ListedTicket, 'group_key' | 'group_size' | 'total' | 'version'>;

/** The newest tickets that the options choose, and how many they choose. Throws for what the account does not have. */
export async function listedTickets(
  writer: pg.Pool,
  { account, status = 'open', severity, connection, assignee, limit = 100 }: ListOptions,
): Promise<{ tickets: PrintedTicket[]; total: number }> {
  await requireAccount(writer, account);
  if (connection !== undefined && (await ownerOfConnection(writer, connection)) !== account) {
    throw notFound('connection', connection);
  }
  const member =
    assignee === undefined ? undefined : await memberOf({ accountId: account, client: writer }, assignee);
  const choice: TicketChoice = {
    list: status,
    severity: severity ?? null,
    connectionId: connection ?? null,
    connectionIds: null,
    assignee: member === undefined ? 'anybody' : (member ?? 'nobody'),
    mentioned: null,
    words: [],
    since: null,
    before: null,
    group: null,
    sort: 'first_seen',
    reverse: false,
  };
  const { tickets: rows, total } = await listTickets(within(writer), account, choice, { limit, skip: 0 });
  const tickets = rows.map(
    ({ group_key: _, group_size: _size, total: _total, version: _version, ...row }) => row,
  );
  return { tickets, total };
}

/** A ticket as a row of a table. */
export function shownTicket(ticket: PrintedTicket) {
  const { id, severity, state, connection_name: connection, title, object, metric_line: measured } = ticket;
  return {
    id,
    severity,
    state,
    connection,
    title,
    object,
    measured,
    assignee: ticket.assignee_name,
    since: ticket.first_seen_at,
  };
}
