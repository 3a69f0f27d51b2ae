import { quotedUnlessPlain } from '../../platform/text/clean-text.ts';
import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import { DATABASES, databasesIn, POOLS, poolsIn } from './console.ts';

/** Clients wait in a pool that has no server connection: PgBouncer can't reach the database behind it. */
export const serverUnreachable: Check = {
  id: 'PB_SERVER_UNREACHABLE',
  title: 'Database behind the pooler unreachable',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  sql: () => [POOLS, DATABASES],
  judge: (rows) => {
    const pools = poolsIn(rows);
    const databases = databasesIn(rows);
    const stopped = new Set(databases.filter(({ isPaused }) => isPaused).map(({ name }) => name));
    const places = new Map(
      databases.map(({ name, host, port }) => [
        name,
        `${host === null ? 'a local socket' : quotedUnlessPlain(host, 100)}, port ${port}`,
      ]),
    );
    const cut = pools
      .filter(({ waiting, established }) => waiting > 0 && established === 0)
      .filter(({ database }) => !stopped.has(database))
      .toSorted((one, other) => other.waiting - one.waiting);
    return {
      passMessage: `In none of ${counted(pools.length, 'pool')} clients wait without a server connection.`,
      measures: [countOf('pools_without_server_count', cut.length)],
      ...(cut.length > FAULT_LIMIT && { truncated: true }),
      faults: cut.slice(0, FAULT_LIMIT).map(({ object, database, waiting }) => ({
        severity: 'critical',
        object,
        metricLine: `${counted(waiting, 'client waits', 'clients wait')} in pool ${object}, which has no connection to its server (${places.get(database) ?? 'unknown'}); the server is down, refuses the login, or PgBouncer is paused.`,
        remediation: `SHOW SERVERS; -- none of the pool is there; its log says why: look for "connect failed", "login failed" and "server DNS lookup failed"`,
      })),
    };
  },
};
