import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Row } from '../fault.ts';
import { counted, grouped, percent } from '../wording.ts';
import { atLeast, countOf, faultMeasure, uncompared, worstOf } from '../worst-measures.ts';
import { DATABASES, databasesIn, POOLS, type Pool, poolsIn, USERS, userPoolSizes } from './console.ts';

/** A share of the pool. For how long a client has waited is dbvitals' own: short waits are how a pool in transaction mode works. */
const thresholds = { warning: 1, waiting_seconds: 1 };

/** A pool has all the server connections that it may have, and clients wait for one. */
export const poolSaturation: Check<typeof thresholds> = {
  id: 'PB_POOL_SATURATION',
  title: 'Pool used up',
  category: 'connections',
  maxSeverity: 'warning',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => [POOLS, DATABASES, USERS],
  judge: (rows, { thresholds: { warning, waiting_seconds } }) => {
    const pools = fillOf(rows).map((pool) => ({
      ...pool,
      isLate: pool.waiting > 0 && pool.waitSeconds >= waiting_seconds,
    }));
    const full = pools
      .filter(({ isLate, value }) => isLate && value >= warning)
      .toSorted((one, other) => other.waiting - one.waiting);
    const scale = { ...atLeast('pool_used_ratio', warning), limit: 1 };
    // While nobody waits, a pool that is used up is a good one: its share is compared with nothing.
    const shares = pools.map(({ object, value, isLate }) => ({
      ...(isLate ? scale : uncompared('pool_used_ratio')),
      object,
      value,
    }));
    return {
      passMessage: `No client has waited for long in ${counted(pools.length, 'pool')}.`,
      measures: [...worstOf(shares), countOf('full_pools_count', full.length)],
      ...(full.length > FAULT_LIMIT && { truncated: true }),
      faults: full.slice(0, FAULT_LIMIT).map(({ object, value, used, most, waiting }) => ({
        severity: 'warning',
        object,
        metricLine: `Pool ${object} has ${grouped(used)} of the ${counted(most, 'server connection')} that it may have (${percent(value)}), and ${counted(waiting, 'client waits', 'clients wait')}; shorten transactions, or raise its size.`,
        remediation: `SHOW SERVERS; -- which sessions hold them; if the server behind has room, raise pool_size of the database in pgbouncer.ini, then run RELOAD;`,
        measured: faultMeasure({ ...scale, object, value }),
      })),
    };
  },
};

interface Fill extends Pool {
  used: number;
  most: number;
  value: number;
}

/** Each pool with the limit that it is nearest to: its own size with the reserve, or that of its database. */
function fillOf(rows: readonly Row[]): Fill[] {
  const databases = new Map(databasesIn(rows).map((database) => [database.name, database]));
  const ofUsers = userPoolSizes(rows);
  return poolsIn(rows).flatMap((pool) => {
    const database = databases.get(pool.database);
    if (!database) return [];
    const most = (ofUsers.get(pool.user) ?? database.poolSize) + database.reserve;
    const used = pool.established + pool.login;
    const limits = [
      { used, most },
      { used: database.connections, most: database.limit },
    ].filter((limit) => limit.most > 0);
    const [nearest] = limits
      .map((limit) => ({ ...limit, value: limit.used / limit.most }))
      .toSorted((one, other) => other.value - one.value);
    return nearest ? [{ ...pool, ...nearest }] : [];
  });
}
