import { CONFIG, LISTS, listed, numberSetting, POOLS, poolsIn } from '../../../checks/pgbouncer/console.ts';
import { cleanText } from '../../../platform/text/clean-text.ts';
import type { Session } from '../../session/session.ts';
import { type LoadGroup, MalformedPulse, type PulseReading } from './pulse-reading.ts';

/** The most pools that are kept apart. */
const MOST_GROUPS = 50;

const NAME = 64;

/** What the answers of a console with thousands of pools may have beyond those of a server, in bytes. */
export const POOLS_BYTES = 2 * 1024 * 1024;

/** Reads PgBouncer. A client that waits for a server connection is active, as a session that waits for a lock is. */
export async function readPgbouncerPulse(session: Session): Promise<PulseReading> {
  const [pooled, lists, config] = [
    await session.read(POOLS),
    await session.read(LISTS),
    await session.read(CONFIG),
  ];
  try {
    const pools = poolsIn(pooled);
    const sum = (of: (pool: (typeof pools)[number]) => number) =>
      pools.reduce((all, pool) => all + of(pool), 0);
    const load = pools.flatMap(({ database, user, active, waiting, waitSeconds }): LoadGroup[] => {
      const group = { state: 'active', query: '', application: '', seconds: 0 } as const;
      const place = { database: cleanText(database, NAME), role: cleanText(user, NAME) };
      const running: LoadGroup = { ...group, ...place, wait: '', event: '', count: active };
      const stopped: LoadGroup = {
        ...group,
        ...place,
        wait: 'Pool',
        event: 'ServerConnection',
        count: waiting,
      };
      return [running, { ...stopped, seconds: waitSeconds }].filter(({ count }) => count > 0);
    });
    return {
      started: 0,
      isStandby: false,
      isReplicating: null,
      connections: {
        used: listed(lists, 'used_clients') + listed(lists, 'login_clients'),
        allowed: numberSetting(config, 'max_client_conn'),
      },
      room: null,
      lockWaitTimeout: null,
      active: sum(({ active }) => active) + sum(({ waiting }) => waiting),
      idleInTransaction: 0,
      load: load.toSorted((one, other) => other.count - one.count).slice(0, MOST_GROUPS),
      transactions: null,
      replicaLag: null,
      deadlocks: null,
      oldestTransaction: null,
      waits: [],
      shortWaits: 0,
      sessions: [],
      clientsWaiting: {
        count: sum(({ waiting }) => waiting),
        seconds: Math.max(0, ...pools.map(({ waitSeconds }) => waitSeconds)),
        isCutOff: pools.some(({ waiting, established }) => waiting > 0 && established === 0),
      },
    };
  } catch (error) {
    throw new MalformedPulse(error instanceof Error ? error.message : String(error));
  }
}
