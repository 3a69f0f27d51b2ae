import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { counted, duration } from '../wording.ts';
import { atLeast, countOf, faultMeasure, listHighest } from '../worst-measures.ts';
import { POOLS, poolsIn } from './console.ts';

/** Seconds: dbvitals' own. PgBouncer ends a wait with an error after query_wait_timeout, 120 s by default. */
const thresholds = { warning_seconds: 5, critical_seconds: 30 };

/** How long clients have waited for a server connection. */
export const clientsWaiting: Check<typeof thresholds> = {
  id: 'PB_CLIENTS_WAITING',
  title: 'Clients wait for a server connection',
  category: 'connections',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => POOLS,
  judge: (rows, { thresholds: { warning_seconds: warning, critical_seconds: critical } }) => {
    const pools = poolsIn(rows).map((pool) => ({ ...pool, value: pool.waitSeconds }));
    const late = pools
      .filter(({ value }) => value >= warning)
      .toSorted((one, other) => other.value - one.value);
    const scale = atLeast('longest_client_wait_seconds', warning, critical);
    const longest = Math.max(0, ...pools.map(({ value }) => value));
    return {
      passMessage:
        longest < 1
          ? 'No client waits for a server connection.'
          : `No client has waited for a server connection for long (at most ${duration(longest)}).`,
      measures: [...listHighest(scale, pools), countOf('long_client_waits_count', late.length)],
      near: pools
        .filter(({ value }) => value >= 0.9 * warning && value < warning)
        .map(({ object }) => object),
      ...(late.length > FAULT_LIMIT && { truncated: true }),
      faults: late.slice(0, FAULT_LIMIT).map(({ object, value, waiting }) => ({
        severity: value >= critical ? 'critical' : 'warning',
        object,
        metricLine: `${counted(waiting, 'client waits', 'clients wait')} in pool ${object} for a server connection, the first for ${duration(value)}; end what holds its connections, or raise its size.`,
        remediation: `SHOW SERVERS; -- which sessions hold the connections of the pool and since when; if all are needed, raise pool_size of the database in pgbouncer.ini, then run RELOAD;`,
        measured: faultMeasure({ ...scale, object, value }),
      })),
    };
  },
};
