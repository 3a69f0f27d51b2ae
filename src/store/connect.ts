import pg from 'pg';
import type { StoreAddress, StoreRole } from '../config/store-url.ts';
import { isTraced } from '../platform/telemetry/tracing.ts';
import { withControl } from './cells/control-store.ts';
import type { keepPlans } from './pool/keep-plans.ts';
import { traceStatements } from './pool/trace-statements.ts';
import { StoreClient } from './store-client.ts';

/** How long a request may wait for the store, in milliseconds: its whole deadline (docs/design/requests.md). */
export const STORE_DEADLINE_MS = 2_000;

/** How long a statement of the monitor or of notifications may wait for the store, in milliseconds; a run's claim outlasts it. */
export const WORK_DEADLINE_MS = 20_000;

const INT8_ARRAY: number = 1016; // the OID of bigint[]; no column of this type contains nulls
const FLOAT_ARRAYS: readonly number[] = [1021, 1022]; // the OIDs of real[] and double precision[]; ours have one dimension

// Identifiers stay below 2^53 (they count from 1), so a JavaScript number holds them exactly.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(INT8_ARRAY, (text) => text.slice(1, -1).split(',').filter(Boolean).map(Number));
// Histories have thousands of values. The driver looks for quotes and brackets at each character, which no number has.
for (const type of FLOAT_ARRAYS) {
  pg.types.setTypeParser(type, (text) => text.slice(1, -1).split(',').filter(Boolean).map(numberOrNull));
}

/** How many connections a pool has at most, and how it uses them: see {@link openPool}. */
export interface PoolOptions {
  max: number;
  pipeline?: boolean;
  statementTimeout?: number | undefined;
  keepsPlans?: boolean;
  name?: string;
}

/**
 * Opens a pool of connections to the store that act as `role`. If a host is lost or does not answer, the pool uses the next
 * one of `address`. `statementTimeout`, in milliseconds, limits each statement on client and server; without it there is no
 * limit, and a statement to a host that falls silent waits until the host is back. `keepsPlans` is for a pool that lives long and
 * repeats its statements: see {@link keepPlans}. `name` is shown in pg_stat_activity; default: the role.
 * Connecting throws as {@link StoreClient.prove} does.
 */
export function openPool(address: StoreAddress, role: StoreRole, options: PoolOptions): pg.Pool {
  const { statementTimeout, keepsPlans = false } = options;
  const pool = new pg.Pool({
    Client: class extends StoreClient {
      constructor(config?: pg.ClientConfig) {
        super(config, { address, role, statementTimeout, keepsPlans });
      }
    },
    application_name: `dbvitals ${options.name ?? role}`,
    connectionTimeoutMillis: STORE_DEADLINE_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    max: options.max,
    pipeline: options.pipeline ?? false,
    query_timeout: statementTimeout,
    async onConnect(client: pg.ClientBase) {
      if (client instanceof StoreClient) await client.prove();
    },
  });
  // Not only a connection that ends tells that a host is lost: one that is silent does too.
  pool.on('release', (error: unknown, client) => {
    if (error instanceof Error && !(error instanceof pg.DatabaseError) && client instanceof StoreClient)
      client.leave();
  });
  // A broken idle connection is replaced at its next use. A connection in use reports the error from its query.
  pool.on('error', () => {});
  if (isTraced()) traceStatements(pool, role);
  return pool;
}

function numberOrNull(text: string): number | null {
  return text === 'NULL' ? null : Number(text);
}

/** Runs `work` in a transaction. An error rolls it back; if that fails too, or the store does not answer, the connection is dropped. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await withControl(pool, client, () => work(client));
    await client.query('commit');
    return result;
  } catch (error) {
    // pg's words for a statement without an answer: a rollback would wait behind it, and as long again.
    if (error instanceof Error && error.message === 'Query read timeout') broken = error;
    else
      await client.query('rollback').catch((cause: Error) => {
        broken = cause;
      });
    throw error;
  } finally {
    client.release(broken);
  }
}
