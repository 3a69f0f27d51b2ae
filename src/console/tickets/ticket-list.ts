import { type Static, Type } from 'typebox';
import { awaitEntries } from '../../activity/await-entries.ts';
import { nullable } from '../../http/endpoint.ts';
import { tickets } from '../../ops/tickets.ts';
import { FaultMeasure } from '../measures/measure-schemas.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

const { data, meta } = tickets.response.properties;

/** A page of tickets as endpoint 4 answers it, with the number that each comes from. */
export const Tickets = Type.Object({
  data: Type.Array(Type.Object({ ...data.items.properties, measured: nullable(FaultMeasure) })),
  meta,
});

export type Tickets = Static<typeof Tickets>;

const selectMeasured = `
  select ticket_id as id, measured
    from ticket
   where account_id = $1 and ticket_id = any($2::bigint[]) and measured is not null`;

interface MeasuredRow {
  id: number;
  measured: FaultMeasure;
}

const listTickets = consoleRoute({
  method: 'GET',
  path: '/tickets',
  permission: 'tickets:read',
  query: tickets.query,
  response: Tickets,
  async handler({ actor: { accountId }, parts: { writer }, query, read }) {
    const instant = tickets.wholeUpTo?.(query) ?? null;
    if (instant !== null) await awaitEntries(writer, accountId, instant);
    return read(async (run) => {
      // Pages follow each other by `page` and `to`, so the links are not sent.
      const { body } = await tickets.answer(run, { accountId, query, id: '', url: 'http://localhost/' });
      const ids = body.data.map(({ id }) => id);
      const rows = await run<MeasuredRow>(selectMeasured, [accountId, ids]);
      const measured = new Map(rows.map((row) => [row.id, row.measured]));
      return {
        data: body.data.map((ticket) => ({ ...ticket, measured: measured.get(ticket.id) ?? null })),
        meta: body.meta,
      };
    });
  },
});

export const ticketListRoutes: ConsoleRoute[] = [listTickets];
