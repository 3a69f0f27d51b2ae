import { notFound } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { type ConnectionChange, showChange } from '../../runs/changes/connection-change.ts';
import { listChanges } from '../../runs/changes/list-changes.ts';
import { requireConnection } from '../connections/require-connection.ts';
import { endOf, HISTORY_DAYS, historyRange, readHistoryRange } from '../history-range.ts';
import { beforeParameter, readPlace } from '../list-place.ts';
import { limitParameter, readLimit } from '../page-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { ConnectionChanges, TicketChanges } from './change-schemas.ts';

const wrongKinds = 'kinds must be 1 to 20 kinds of changes, separated by commas, such as setting,index.';

const listPage = consoleRoute({
  method: 'GET',
  path: '/connections/:id/changes',
  permission: 'health:read',
  query: Type.Object({
    ...historyRange,
    kinds: Type.Optional(
      Type.String({ pattern: '^[a-z_]{1,30}(?:,[a-z_]{1,30}){0,19}$', description: wrongKinds }),
    ),
    before: beforeParameter('changes'),
    limit: limitParameter,
  }),
  response: ConnectionChanges,
  async handler({ actor: { accountId }, id, query, read }) {
    const limit = readLimit(query.limit);
    const before = readPlace(query.before, 'changes');
    const wanted = {
      ...readHistoryRange(query, HISTORY_DAYS),
      ...(query.kinds !== undefined && { kinds: query.kinds.split(',') }),
      ...(before && { before }),
      limit: limit + 1,
    };
    const found = await read(async (run) => {
      await requireConnection(run, accountId, id);
      return listChanges(run, accountId, id, wanted);
    });
    const changes = found.slice(0, limit);
    const last = changes.at(-1);
    const next = found.length > limit && last ? `${last.at}_${last.id}` : null;
    return { changes: changes.map(showChange), next };
  },
});

const DAY_MS = 86_400_000;
/** Changes that are shown on a ticket. */
const ON_TICKET = 100;

const selectTicket = `
  select connection_id, first_seen_at, database, title, object
    from ticket
   where account_id = $1 and ticket_id = $2`;

interface TicketRow {
  connection_id: number;
  first_seen_at: Date;
  database: string;
  title: string;
  object: string | null;
}

const listBeforeTicket = consoleRoute({
  method: 'GET',
  path: '/tickets/:id/changes',
  permission: 'health:read',
  response: TicketChanges,
  async handler({ actor: { accountId }, id, read }) {
    return read(async (run) => {
      const [ticket] = await run<TicketRow>(selectTicket, [accountId, id]);
      if (!ticket) throw notFound();
      const from = new Date(ticket.first_seen_at.getTime() - DAY_MS);
      // What the run found that opened the ticket has the ticket's microsecond.
      const wanted = { from, to: endOf(ticket.first_seen_at), limit: ON_TICKET + 2 };
      const found = await listChanges(run, accountId, ticket.connection_id, wanted);
      const others = found.filter((change) => !isOpening(ticket, change));
      return {
        from: from.toISOString(),
        to: ticket.first_seen_at.toISOString(),
        changes: others.slice(0, ON_TICKET).map(showChange),
        more: others.length > ON_TICKET,
      };
    });
  },
});

/** Whether a change says only that the ticket was opened. */
function isOpening({ database, title, object, first_seen_at }: TicketRow, change: ConnectionChange): boolean {
  return (
    change.kind === 'finding' &&
    change.database === database &&
    change.subject === (object === null ? title : `${title}: ${object}`) &&
    Date.parse(change.at) === first_seen_at.getTime()
  );
}

/** The routes that list what changed. */
export const changeRoutes: ConsoleRoute[] = [listPage, listBeforeTicket];
