import type { Thresholds } from '../../src/checks/check.ts';
import type { PostgresServer } from '../checks/postgres-server.ts';
import { type Provocation, provocations } from '../checks/provocations.ts';

/** Faults that end the server's sessions or hide its counters from the previous run. They are made first. */
const RESTARTING = [
  'PG_MAX_CONN_HIGH',
  'PG_SHARED_BUFFERS_LOW',
  'PG_ARCHIVER_FAILING',
  'PG_CHECKSUM_FAILURES',
  'PG_NO_TLS',
];

/** Faults that VACUUM fixes, that block VACUUM, or that last only a minute. They are made last. */
const LAST = [
  'PG_XID_WRAPAROUND',
  'PG_MXID_WRAPAROUND',
  'PG_IDLE_IN_TXN',
  'PG_LONG_XACT',
  'PG_PREPARED_XACT_OLD',
  'PG_XMIN_HELD',
  'PG_BLOCKED_SESSIONS',
  'PG_LONG_QUERY',
];

/** Faults that can't exist together with the others, with the reason. */
const ALONE: Record<string, string> = {
  CONN_UNREACHABLE: 'nothing else could be measured',
  CONN_AUTH_FAILED: 'nothing else could be measured',
  PG_CONN_SATURATION: 'the sessions of the other faults need room, and PG_MAX_CONN_HIGH makes it',
  PG_VERSION_EOL: 'the server is of such a version from the start',
  PG_CACHE_HIT_LOW: "the other faults' reads come from memory",
  PG_PGSS_MISSING: 'PG_SLOW_QUERIES reads the extension',
};

// Objects of provocations left out for the same reason; their checks have other provocations.
const ALONE_OBJECTS = ['track_counts', 'prepared transaction'];

/** The faults of a seeded server, and the thresholds at which they count at once. */
export interface Seeded {
  made: { check_id: string; object: unknown }[];
  thresholds: Record<string, Thresholds>;
}

/**
 * Makes all faults of the provocations that can exist together. `between` runs after the faults that end sessions;
 * counters start from its run.
 */
export async function seed(
  server: PostgresServer,
  between: (thresholds: Seeded['thresholds']) => Promise<unknown>,
): Promise<Seeded> {
  const chosen = provocations.filter(
    ({ check_id, object }) => !(check_id in ALONE) && !ALONE_OBJECTS.includes(String(object)),
  );
  const of = (ids: string[]) => ids.flatMap((id) => chosen.filter(({ check_id }) => check_id === id));
  const late = [...RESTARTING, ...LAST];
  const middle = chosen.filter(({ check_id }) => !late.includes(check_id));
  const thresholds = Object.fromEntries(
    chosen.flatMap(({ check_id, thresholds }) => (thresholds ? [[check_id, thresholds]] : [])),
  );
  thresholds['PG_SLOT_INACTIVE'] = { warning_seconds: 0 };
  for (const each of chosen) await each.prepare?.(server);
  for (const each of of(RESTARTING)) await make(server, each);
  await server.run(`select pg_create_physical_replication_slot('forgotten', true)`);
  await between(thresholds);
  for (const each of [...middle, ...of(LAST)]) await make(server, each);
  await server.run('select * from damaged').catch(() => {}); // causes another checksum failure
  return { made: chosen, thresholds };
}

async function make(server: PostgresServer, { check_id, provoke }: Provocation): Promise<void> {
  try {
    await provoke(server);
  } catch (error) {
    throw new Error(`${check_id} could not be provoked beside the others.`, { cause: error });
  }
}
