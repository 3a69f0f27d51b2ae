import { identifier } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { readFleetBlocking } from '../../runs/episodes/fleet-blocking.ts';
import { readFleetLoad } from '../../runs/load/fleet-load.ts';
import { readFleetVitals } from '../../runs/measures/fleet-vitals.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

export const FleetNow = Type.Object({
  /** Connections with a pulse or a run in the last minutes, and those on which a session blocks others. */
  data: Type.Array(
    Type.Object({
      id: identifier('connection identifier'),
      /** The average number of active sessions in the last minute; null = no pulse. */
      active: nullable(Type.Number()),
      /** How many sessions wait at most for those that block others now. */
      blocked: Type.Integer(),
      /** A second, in the last minute or at the latest run; null = not measured. */
      transactions: nullable(Type.Number()),
      /** Of MySQL and MariaDB. */
      queries: nullable(Type.Number()),
      /** How far a replica is behind, in seconds; null = it is none. */
      lag: nullable(Type.Number()),
    }),
  ),
});

export type FleetNow = Static<typeof FleetNow>;

const getFleetNow = consoleRoute({
  method: 'GET',
  path: '/fleet/now',
  permission: 'health:read',
  response: FleetNow,
  // It looks up the last minute and run of each connection.
  cost: 3,
  async handler({ actor: { accountId }, read }) {
    const [loads, blocked, vitals] = await read((run) =>
      Promise.all([
        readFleetLoad(run, accountId),
        readFleetBlocking(run, accountId),
        readFleetVitals(run, accountId),
      ]),
    );
    const measured = new Map(vitals.map((row) => [row.id, row]));
    const load = new Map(loads.map((row) => [row.id, row]));
    const ids = new Set([...load.keys(), ...blocked.keys(), ...measured.keys()]);
    const data = [...ids].map((id) => {
      const [now, run] = [load.get(id), measured.get(id)];
      return {
        id,
        active: now?.active ?? null,
        blocked: blocked.get(id) ?? 0,
        transactions: now?.transactions ?? run?.transactions ?? null,
        queries: run?.queries ?? null,
        lag: now?.lag ?? run?.lag ?? null,
      };
    });
    return { data };
  },
});

/** The route of what happens on the servers of an account now. */
export const fleetNowRoutes: ConsoleRoute[] = [getFleetNow];
