import pg from 'pg';
import type { StoreAddress, StoreRole } from '../config/store-url.ts';
import { isTraced } from '../platform/telemetry/tracing.ts';
import { requireServerSignature, UNPROVED } from '../platform/unsafe/server-signature.ts';
import { withControl } from './cells/control-store.ts';
import { keepPlans } from './pool/keep-plans.ts';
import { sharedPrimary } from './pool/primary.ts';
import { traceStatements } from './pool/trace-statements.ts';
import { StoreUnavailable } from './store-failure.ts';

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
 * Connecting throws {@link StoreUnavailable} if the host is a standby, and an error if it gives another role than requested.
 */
export function openPool(address: StoreAddress, role: StoreRole, options: PoolOptions): pg.Pool {
  const settings = {
    options: role === 'owner' ? '-c timezone=UTC' : `-c timezone=UTC -c role=dbvitals_${role}`,
    statement_timeout: options.statementTimeout,
  };
  const primary = sharedPrimary(address);
  class StoreClient extends pg.Client {
    readonly #at: number;

    constructor(config?: pg.ClientConfig) {
      const { at } = primary;
      const { pooled, ...host } = address[at] ?? {};
      super({
        ...config,
        ...(pooled ? { connectionString: pooled(role) } : settings),
        ...host,
      });
      this.#at = at;
      this.on('error', () => this.leave());
      requireServerSignature(this, () => {
        this.connection.emit('error', new Error(UNPROVED));
        this.connection.stream.destroy();
      });
      if (pooled) this.query = unnamed(this);
      else if (options.keepsPlans) keepPlans(this);
      if (isTraced()) traceStatements(this, role);
    }

    // The pool passes a callback. A failed connection is reported only there.
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      if (!callback) return super.connect();
      super.connect((error: Error) => {
        if (error) {
          this.leave();
          // The driver leaves it open if something else than PostgreSQL answers.
          this.connection.stream.destroy();
        }
        callback(error);
      });
      return undefined;
    }

    leave(): void {
      primary.leave(this.#at);
    }

    found(): void {
      primary.found(this.#at, this);
    }
  }
  const pool = new pg.Pool({
    Client: StoreClient,
    application_name: `dbvitals ${options.name ?? role}`,
    connectionTimeoutMillis: STORE_DEADLINE_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    max: options.max,
    pipeline: options.pipeline ?? false,
    query_timeout: options.statementTimeout,
    async onConnect(client: pg.ClientBase) {
      // The time zone is the only one of our settings that a pooler keeps for its client on every server connection.
      const { rows } = await client.query<{ role: string; standby: boolean }>(
        `select current_user as role, pg_is_in_recovery() as standby, set_config('timezone', 'UTC', false)`,
      );
      const [found = { role: 'nobody', standby: false }] = rows;
      if (found.standby) {
        if (client instanceof StoreClient) client.leave();
        throw new StoreUnavailable(
          'This host of the store is a standby: add the primary to the URL, or promote this host.',
        );
      }
      if (role !== 'owner' && found.role !== `dbvitals_${role}`) {
        throw new Error(
          `The store gives dbvitals_${role} the rights of ${found.role}: configure the pooler as described in docs/scaling.md.`,
        );
      }
      if (client instanceof StoreClient) client.found();
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

/** The client's `query` without statement names, which belong to a session: a pooler's client has no session of its own. */
function unnamed(client: pg.Client): pg.Client['query'] {
  const { query } = client;
  return ((statement: unknown, ...rest: unknown[]) => {
    // One that runs itself, such as an exchange, names its statements itself.
    const named =
      typeof statement === 'object' && statement !== null && 'name' in statement && !('submit' in statement);
    return Reflect.apply(query, client, [named ? { ...statement, name: undefined } : statement, ...rest]);
  }) as pg.Client['query'];
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
