import { Type } from 'typebox';
import { endpoint, nullable } from '../http/endpoint.ts';

const TicketStatistics = Type.Object({
  open_count: Type.Integer({ description: 'open tickets' }),
  resolved_this_week: Type.Integer({ description: 'tickets resolved since Monday 00:00 UTC' }),
  critical_open: Type.Integer({ description: 'open tickets of severity critical' }),
  warning_open: Type.Integer({ description: 'open tickets of severity warning' }),
  avg_resolution_hours: nullable(
    Type.Number({
      description: 'average resolution time in hours, two decimals; null when none was ever resolved',
    }),
  ),
});

const ticketStatistics = `
  select count(*) filter (where status = 'open') as open_count,
         count(*) filter (where resolved_at >= date_trunc('week', now(), 'UTC')) as resolved_this_week,
         count(*) filter (where status = 'open' and severity = 'critical') as critical_open,
         count(*) filter (where status = 'open' and severity = 'warning') as warning_open,
         round((avg(extract(epoch from resolved_at - first_seen_at)) / 3600)::numeric, 2)::float8
           as avg_resolution_hours
    from ticket
   where account_id = $1`;

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
  summary: 'Ticket statistics',
  query: Type.Object({}),
  response: Type.Object({ data: TicketStatistics }),
  reuse: 'tagged',
  async answer(read, { accountId }) {
    const [data] = await read<StatisticsRow>(ticketStatistics, [accountId]);
    if (!data) throw new Error('an aggregate gave no row');
    return { body: { data } };
  },
});
