import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Row } from '../fault.ts';
import { grouped, percent } from '../wording.ts';
import { atLeast, faultMeasure, worstOf } from '../worst-measures.ts';
import {
  DATABASES,
  databasesIn,
  POOLS,
  type PooledDatabase,
  poolsIn,
  USERS,
  userPoolSizes,
} from './console.ts';
import { type ServerLimit, serverKey } from './server-limit.ts';

/** A share of the connections of the server. */
const thresholds = { warning: 1 };

/** The pools to a server may open more connections than the server allows. */
export const poolsExceedServer: Check<typeof thresholds> = {
  id: 'PB_POOLS_EXCEED_SERVER',
  title: 'Pools larger than their server',
  category: 'configuration',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () => [POOLS, DATABASES, USERS],
  judge: (rows, { thresholds: { warning }, serversBehind = [] }) => {
    const servers = serversIn(rows, serversBehind);
    if (servers.length === 0)
      return {
        skipped:
          'Not measured: no server behind the pooler is a connection of this account with the same host and port, so how many connections it allows is unknown.',
      };
    const scale = { ...atLeast('possible_connections_ratio', warning), limit: null };
    const measures = servers.map(({ object, most, allowed }) => ({
      ...scale,
      object,
      value: most / allowed,
    }));
    const worst = servers.toSorted((one, other) => other.most / other.allowed - one.most / one.allowed);
    return {
      passMessage: worst
        .slice(0, 3)
        .map(
          ({ object, most, allowed }) =>
            `The pools to ${object} open at most ${grouped(most)} of the ${grouped(allowed)} connections that it allows.`,
        )
        .join(' '),
      measures: worstOf(measures),
      faults: worst
        .filter(({ most, allowed }) => most / allowed >= warning)
        .slice(0, FAULT_LIMIT)
        .map(({ object, most, allowed }) => ({
          severity: 'warning',
          object,
          metricLine: `The pools to ${object} may open ${grouped(most)} connections, but it allows ${grouped(allowed)} (${percent(most / allowed)}): under load, logins fail; lower pool sizes, or set max_db_connections.`,
          remediation:
            'SHOW DATABASES; -- each pool has pool_size connections for each user; lower default_pool_size or set max_db_connections in pgbouncer.ini, then run RELOAD;',
          measured: faultMeasure({ ...scale, object, value: most / allowed }),
        })),
    };
  },
};

/** The servers that are known, with the most connections that all pools to it may open. */
function serversIn(rows: readonly Row[], known: readonly ServerLimit[]) {
  const ofUsers = userPoolSizes(rows);
  const pools = Map.groupBy(poolsIn(rows), ({ database }) => database);
  const mostOf = ({ name, poolSize, reserve, limit }: PooledDatabase) => {
    // A database that nobody has used yet has one pool at least, once it is.
    const users = pools.get(name)?.map(({ user }) => user) ?? [''];
    const sum = users.reduce((all, user) => all + (ofUsers.get(user) ?? poolSize) + reserve, 0);
    return limit > 0 ? Math.min(limit, sum) : sum;
  };
  const byServer = Map.groupBy(
    databasesIn(rows).filter(({ isDisabled }) => !isDisabled),
    ({ host, port }) => serverKey(host, port),
  );
  return known.flatMap(({ host, port, name, allowed }) => {
    const databases = byServer.get(serverKey(host, port)) ?? [];
    const most = databases.reduce((sum, database) => sum + mostOf(database), 0);
    return most === 0 || allowed <= 0 ? [] : [{ object: name, most, allowed }];
  });
}
