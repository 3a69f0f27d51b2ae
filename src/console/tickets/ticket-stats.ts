import { one } from '../../database/one.ts';
import { nullable } from '../../http/endpoint.ts';
import { count } from '../../http/fields.ts';
import { stats } from '../../ops/stats.ts';
import { isAcknowledged } from '../../triage/ticket-state.ts';
import { type Static, Type } from '../../vocabulary/schema.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/**
 * The summary on the Tickets page. Unlike endpoint 5, it leaves out tickets that were silenced or whose connection was
 * removed: nobody solved them. Count and average cover the same tickets (docs/decisions/0056-silenced-is-not-solved.md).
 */
export const TicketStats = Type.Object({
  open_count: count('open tickets'),
  critical_open: count('open tickets of severity critical'),
  warning_open: count('open tickets of severity warning'),
  new: count('open tickets that nobody has acknowledged or snoozed'),
  acknowledged: count('open tickets that are acknowledged'),
  snoozed: count('open tickets that are snoozed'),
  mentioned: count('open tickets with a comment that mentions the member'),
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

// Few tickets have been changed: the others are new.
const triaged = `
  select count(*) filter (where g.acknowledged_until is null)::int as acknowledged,
         count(*) filter (where g.acknowledged_until is not null)::int as snoozed
    from ticket_triage g
    join ticket t on t.account_id = $1 and t.ticket_id = g.ticket_id
   where g.account_id = $1 and g.acknowledged_at is not null and ${isAcknowledged('now()')}`;

const mentioned = `
  select count(distinct k.ticket_id)::int as mentioned
    from ticket_comment k
    join ticket t on t.account_id = $1 and t.ticket_id = k.ticket_id and t.status = 'open'
   where k.account_id = $1 and k.mentions <> '{}' and $2 = any(k.mentions)`;

type Triaged = Pick<TicketStats, 'acknowledged' | 'snoozed'>;
type Solved = Pick<TicketStats, 'solved_this_week' | 'avg_hours_this_week'>;

const getTicketStats = consoleRoute({
  method: 'GET',
  path: '/tickets/stats',
  permission: 'tickets:read',
  response: TicketStats,
  handler: ({ actor: { accountId, memberId }, read }) =>
    read(async (run) => {
      const { body } = await stats.answer(run, { accountId, query: {}, id: '', url: '' });
      const { open_count, critical_open, warning_open } = body.data;
      const solved = one(await run<Solved>(solvedThisWeek, [accountId]), 'count the solved tickets');
      const states = one(await run<Triaged>(triaged, [accountId]), 'count the acknowledged tickets');
      const told = one(
        await run<Pick<TicketStats, 'mentioned'>>(mentioned, [accountId, memberId]),
        'count the mentions',
      );
      const unseen = open_count - states.acknowledged - states.snoozed;
      return { open_count, critical_open, warning_open, new: unseen, ...states, ...told, ...solved };
    }),
});

export const ticketStatsRoutes: ConsoleRoute[] = [getTicketStats];
