import { stats } from '../../api/endpoints/stats.ts';
import { count } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { one } from '../../store/one.ts';
import { countSnoozed } from '../../tickets/triage/ticket-state.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/**
 * The summary on the Tickets page. Unlike endpoint 5, it leaves out tickets that were silenced or whose connection was
 * removed: nobody solved them. Count and average cover the same tickets (docs/decisions/0014-silences.md).
 */
export const TicketStats = Type.Object({
  open: count('open tickets that are not snoozed'),
  critical: count('of these, those of severity critical'),
  snoozed: count('snoozed tickets'),
  solved_this_week: count('tickets that a health check no longer found, since Monday 00:00 UTC'),
  avg_hours_this_week: nullable(
    Type.Number({ minimum: 0, description: 'hours until they were solved; null when none was' }),
  ),
});

export type TicketStats = Static<typeof TicketStats>;

// Maintained by the same triggers as endpoint 5.
const solvedThisWeek = `
  select coalesce(sum(solved), 0)::int as solved_this_week,
         round(sum(solved_seconds) / nullif(sum(solved), 0) / 3600, 2)::float8 as avg_hours_this_week
    from ticket_week
   where account_id = $1
     and week = date_trunc('week', now() at time zone 'UTC')::date`;

const snoozed = `
  select ${countSnoozed('true')} as snoozed, ${countSnoozed(`t.severity = 'critical'`)} as snoozed_critical`;

interface Snoozed {
  snoozed: number;
  snoozed_critical: number;
}

type Solved = Pick<TicketStats, 'solved_this_week' | 'avg_hours_this_week'>;

const getTicketStats = consoleRoute({
  method: 'GET',
  path: '/tickets/stats',
  permission: 'tickets:read',
  response: TicketStats,
  handler: ({ actor: { accountId }, read }) =>
    read(async (run) => {
      const { body } = await stats.answer(run, { accountId, query: {}, id: '', url: '' });
      const { open_count, critical_open } = body.data;
      const solved = one(await run<Solved>(solvedThisWeek, [accountId]), 'count the solved tickets');
      const away = one(await run<Snoozed>(snoozed, [accountId]), 'count the snoozed tickets');
      const [open, critical] = [open_count - away.snoozed, critical_open - away.snoozed_critical];
      return { open, critical, snoozed: away.snoozed, ...solved };
    }),
});

export const ticketStatsRoutes: ConsoleRoute[] = [getTicketStats];
