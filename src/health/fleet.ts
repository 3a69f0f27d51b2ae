import { Type } from 'typebox';
import { endpoint, nullable } from '../http/endpoint.ts';

const FleetEntry = Type.Object({
  id: Type.Integer({ description: 'connection identifier' }),
  name: Type.String({ description: 'connection name' }),
  score: nullable(Type.Integer({ description: 'latest score; null when none has run' })),
  status: Type.String({
    description: 'healthy (80 and over), warning (50 to 79), critical (under 50) or never_run',
  }),
});

const count = (description: string) => Type.Integer({ description });
const FleetSummary = Type.Object({
  total: count('connections'),
  healthy: count('connections that are healthy'),
  warning: count('connections with status warning'),
  critical: count('connections with status critical'),
  never_run: count('connections without a health check'),
});

const listFleet = `
  select c.connection_id as id,
         c.name,
         h.score,
         case when h.score is null then 'never_run'
              when h.score >= 80 then 'healthy'
              when h.score >= 50 then 'warning'
              else 'critical' end as status
    from connection c
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   where c.account_id = $1
     and c.removed_at is null
   order by c.connection_id`;

interface FleetRow {
  id: number;
  name: string;
  score: number | null;
  status: 'healthy' | 'warning' | 'critical' | 'never_run';
}

/** Endpoint 3: all connections of the account, and how many are in which state. */
export const fleet = endpoint({
  path: '/health/fleet',
  summary: 'All connections with their status, and a count of each status',
  query: Type.Object({}),
  response: Type.Object({ data: Type.Array(FleetEntry), summary: FleetSummary }),
  reuse: 'kept',
  async answer(read, { accountId }) {
    const data = await read<FleetRow>(listFleet, [accountId]);
    const summary = { total: data.length, healthy: 0, warning: 0, critical: 0, never_run: 0 };
    for (const { status } of data) summary[status] += 1;
    return { body: { data, summary } };
  },
});
