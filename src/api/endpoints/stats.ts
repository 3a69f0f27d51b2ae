import { endpoint } from '../../http/endpoint.ts';
import { count } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { Type } from '../../platform/schema/schema.ts';
import { one } from '../../store/one.ts';

const TicketStatistics = Type.Object(
  {
    open_count: count('open tickets'),
    resolved_this_week: count('tickets resolved since Monday 00:00 UTC'),
    critical_open: count('open tickets of severity critical'),
    warning_open: count('open tickets of severity warning'),
    avg_resolution_hours: nullable(
      Type.Number({
        minimum: 0,
        description: 'average resolution time in hours, two decimals; null if no ticket was ever resolved',
      }),
    ),
  },
  { title: 'TicketStatistics', description: 'statistics of the tickets of the account' },
);

// Triggers on ticket maintain these counts: open tickets by class and block, resolved tickets by week.
const ticketStatistics = `
  with tally as (
    select coalesce(sum(open_critical), 0) as critical, coalesce(sum(open_warning), 0) as warning,
           coalesce(sum(open_info), 0) as info
      from ticket_tally
     where account_id = $1 and connection_id = 0 and level = 3
  ), resolution as (
    select coalesce(sum(resolved) filter (where week >= date_trunc('week', now() at time zone 'UTC')::date), 0)::bigint as this_week,
           round(sum(seconds) / nullif(sum(resolved), 0) / 3600, 2)::float8 as hours
      from ticket_week
     where account_id = $1
  )
  select critical + warning + info as open_count,
         this_week as resolved_this_week,
         critical as critical_open,
         warning as warning_open,
         hours as avg_resolution_hours
    from tally, resolution`;

interface StatisticsRow {
  open_count: number;
  resolved_this_week: number;
  critical_open: number;
  warning_open: number;
  avg_resolution_hours: number | null;
}

/** Endpoint 5: statistics of the account's tickets. */
export const stats = endpoint({
  path: '/ops/stats',
  operationId: 'getTicketStatistics',
  summary: 'Ticket statistics',
  description: 'Over all tickets of the account.',
  query: Type.Object({}),
  response: Type.Object({ data: TicketStatistics }),
  reuse: 'tagged',
  async answer(read, { accountId }) {
    const data = one(await read<StatisticsRow>(ticketStatistics, [accountId]), 'sum up the tickets');
    return { body: { data } };
  },
});
