import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Fault } from '../fault.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import { commandOn, DATABASES, databasesIn, nameOf, POOLS, type PooledDatabase, poolsIn } from './console.ts';

/** Databases that somebody paused or disabled. */
export const databasePaused: Check = {
  id: 'PB_DATABASE_PAUSED',
  title: 'Database paused or disabled in the pooler',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  sql: () => [POOLS, DATABASES],
  judge: (rows) => {
    const pools = poolsIn(rows);
    const databases = databasesIn(rows);
    const stopped = databases.filter(({ isPaused, isDisabled }) => isPaused || isDisabled);
    const waitingIn = (name: string) =>
      pools.filter(({ database }) => database === name).reduce((sum, { waiting }) => sum + waiting, 0);
    return {
      passMessage: `None of ${counted(databases.length, 'database')} is paused or disabled.`,
      measures: [countOf('paused_databases_count', stopped.length)],
      ...(stopped.length > FAULT_LIMIT && { truncated: true }),
      faults: stopped.slice(0, FAULT_LIMIT).map((database) => describe(database, waitingIn(database.name))),
    };
  },
};

function describe({ name, isPaused }: PooledDatabase, waiting: number): Fault {
  const object = nameOf(name);
  if (!isPaused)
    return {
      severity: 'warning',
      object,
      metricLine: `Database ${object} is disabled, so PgBouncer refuses its new clients; enable it unless that is on purpose.`,
      remediation: commandOn('ENABLE', name),
    };
  return {
    severity: waiting > 0 ? 'critical' : 'warning',
    object,
    metricLine: `Database ${object} is paused, and ${waiting === 0 ? 'clients will wait' : counted(waiting, 'client waits', 'clients wait')}; resume it when the work on its server is done.`,
    remediation: commandOn('RESUME', name),
  };
}
