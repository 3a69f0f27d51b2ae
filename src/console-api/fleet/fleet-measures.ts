import { engineVitals } from '../../checks/vitals/engine-vitals.ts';
import { Rejection } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { readFleetHistory } from '../../runs/measures/read-fleet-history.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { FLEET_RANGES, type FleetRange } from '../../vocabulary/fleet-ranges.ts';
import { unitOf } from '../../vocabulary/units.ts';
import { FleetMeasures, FleetMetrics } from '../measures/measure-schemas.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

const MOST_CONNECTIONS = 100;
const wrongConnections = `connections must be 1 to ${MOST_CONNECTIONS} ids of connections, separated by commas.`;
const wrongMetric = 'metric must be the name of a metric, such as transactions_per_second.';

const titles = new Map(
  ENGINES.flatMap((engine) => engineVitals[engine].vitals.map(({ metric, title }) => [metric, title])),
);
const metrics = [...titles].map(([metric, title]) => ({
  metric,
  title,
  unit: unitOf(metric),
  engines: ENGINES.filter((engine) => engineVitals[engine].vitals.some((vital) => vital.metric === metric)),
}));

const listMetrics = consoleRoute({
  method: 'GET',
  path: '/fleet/metrics',
  permission: 'health:read',
  response: FleetMetrics,
  handler: async () => ({ metrics }),
});

const getFleetMeasures = consoleRoute({
  method: 'GET',
  path: '/fleet/measures',
  permission: 'health:read',
  query: Type.Object({
    metric: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$', description: wrongMetric })),
    connections: Type.Optional(
      Type.String({
        pattern: `^[1-9][0-9]{0,14}(?:,[1-9][0-9]{0,14}){0,${MOST_CONNECTIONS - 1}}$`,
        description: wrongConnections,
      }),
    ),
    range: Type.Optional(
      Type.Unsafe<FleetRange>({
        type: 'string',
        enum: [...FLEET_RANGES],
        description: `range must be ${FLEET_RANGES.slice(0, -1).join(', ')} or ${FLEET_RANGES.at(-1)}.`,
      }),
    ),
  }),
  response: FleetMeasures,
  // A hundred connections read a few thousand pages of the store.
  cost: 5,
  async handler({ actor: { accountId }, query: { metric, connections, range = '24h' }, read }) {
    if (metric === undefined) throw invalid('metric', wrongMetric);
    if (connections === undefined) throw invalid('connections', wrongConnections);
    const now = Math.floor(Date.now() / 1_000);
    const asked = { metric, connections: connections.split(',').map(Number), range, now };
    const history = await read((run) => readFleetHistory(run, accountId, asked));
    const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();
    return {
      metric,
      from: iso(history.from),
      to: iso(history.to),
      connections: history.connections,
    };
  },
});

/** The routes that compare the connections of the fleet by a metric. */
export const fleetMeasureRoutes: ConsoleRoute[] = [listMetrics, getFleetMeasures];

function invalid(parameter: string, message: string): Rejection {
  return new Rejection('invalid_parameter', message, { parameter });
}
