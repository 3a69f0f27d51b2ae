import pg from 'pg';
import { isTraced } from '../telemetry/tracing.ts';
import { withControl } from './cells/control-store.ts';
import { primaryOf } from './pool/primary.ts';
import { traceStatements } from './pool/trace-statements.ts';
import { StoreUnavailable } from './store-failure.ts';

/** One host of the store, or of a pooler in front of it. */
interface StoreHost extends pg.ClientConfig {
  /** For a pooler in transaction mode: the URL of the database that acts as a role. */
  pooled?: (role: StoreRole) => string;
}

/** The address of the store: one entry per host of `DATABASE_URL`, tried in turn. */
export type StoreAddress = readonly StoreHost[];

/** `owner` runs migrations, `writer` serves the gate, the monitor and the commands, `reader` the API, `console` the console's pages. */
export type StoreRole = 'owner' | 'writer' | 'reader' | 'console';

/** How long a request may wait for the store, in milliseconds: its whole deadline (docs/design/requests.md). */
export const STORE_DEADLINE_MS = 2_000;

/** How long a statement of the monitor or of notifications may wait for the store, in milliseconds; a run's claim outlasts it. */
export const WORK_DEADLINE_MS = 20_000;

const INT8_ARRAY: number = 1016; // the OID of bigint[]; no column of this type contains nulls

// Identifiers stay below 2^53 (they count from 1), so a JavaScript number holds them exactly.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
pg.types.setTypeParser(INT8_ARRAY, (text) => text.slice(1, -1).split(',').filter(Boolean).map(Number));

const parsed = new Map<string, StoreAddress>();

/**
 * Parses a PostgreSQL URL; it may list several hosts, separated by commas as in libpq. The same URL gives the same object, so all
 * pools on it share what they know of its primary. `setting` is its name in messages. Throws a sentence that says what to do if
 * the URL is invalid.
 */
export function parseStoreUrl(text: string, setting = 'DATABASE_URL'): StoreAddress {
  const known = parsed.get(text);
  if (known) return known;
  const address = parseHosts(setting, 5432, text).map(({ before, name, after }) => ({
    connectionString: `${before}/${name}${after}`,
  }));
  parsed.set(text, address);
  return address;
}

/** {@link parseStoreUrl} for a pooler in transaction mode, whose databases are `<name>_writer` and `<name>_reader`. */
export function parsePoolerUrl(text: string, setting = 'DBVITALS_POOLER_URL'): StoreAddress {
  return parseHosts(setting, 6432, text).map(({ before, name, after }) => ({
    pooled: (role) => `${before}/${name}_${role}${after}`,
  }));
}

function parseHosts(setting: string, port: number, text: string) {
  const [, before, hosts, name, after] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)\/([^?#]+)(.*)$/.exec(text) ?? [];
  const parameters = new URLSearchParams(/\?[^#]*/.exec(after ?? '')?.[0]);
  checkChannelBinding(setting, parameters);
  checkSessionAttributes(setting, parameters);
  try {
    if (hosts === undefined) throw new Error('no host or database');
    return hosts.split(',').map((host) => {
      new pg.Client({ connectionString: `${before}${host}/${name}${after}` }); // throws if it is not a URL
      return { before: `${before}${host}`, name, after };
    });
  } catch {
    throw new Error(`${setting} must look like postgres://user:password@host:${port}/database.`);
  }
}

// pg ignores it, so an operator who asks for `require` would believe that logins are bound to the TLS channel.
function checkChannelBinding(setting: string, parameters: URLSearchParams): void {
  const values = parameters.getAll('channel_binding');
  if (values.includes('require'))
    throw new Error(
      `${setting} contains channel_binding=require: remove it, and use sslmode=verify-full, which verifies the certificate and the name of the server. dbvitals cannot require channel binding.`,
    );
  if (values.some((value) => value !== 'prefer' && value !== 'disable'))
    throw new Error(`${setting} contains channel_binding: it must be prefer or disable, or be removed.`);
}

// pg ignores it, and every connection requires the primary anyway.
function checkSessionAttributes(setting: string, parameters: URLSearchParams): void {
  if (
    parameters.getAll('target_session_attrs').some((value) => value !== 'read-write' && value !== 'primary')
  )
    throw new Error(
      `${setting} contains target_session_attrs: it must be read-write or primary, or be removed. dbvitals uses only the primary.`,
    );
}

/** How many connections a pool has at most, and how it uses them: see {@link openPool}. */
export interface PoolOptions {
  max: number;
  pipeline?: boolean;
  statementTimeout?: number | undefined;
  name?: string;
}

/**
 * Opens a pool of connections to the store that act as `role`. If a host is lost or does not answer, the pool uses the next
 * one of `address`. `statementTimeout`, in milliseconds, limits each statement on client and server; without it there is no
 * limit, and a statement to a host that falls silent waits until the host is back. `name` is shown in pg_stat_activity;
 * default: the role.
 * Connecting throws {@link StoreUnavailable} if the host is a standby, and an error if it gives another role than requested.
 */
export function openPool(address: StoreAddress, role: StoreRole, options: PoolOptions): pg.Pool {
  const settings = {
    options: role === 'owner' ? '-c timezone=UTC' : `-c timezone=UTC -c role=dbvitals_${role}`,
    statement_timeout: options.statementTimeout,
  };
  const primary = primaryOf(address);
  class StoreClient extends pg.Client {
    readonly #at: number;

    constructor(config?: pg.ClientConfig) {
      const { at } = primary;
      const { pooled, ...host } = address[at] ?? {};
      super({ ...config, ...(pooled ? { connectionString: pooled(role) } : { ...settings, ...host }) });
      this.#at = at;
      this.on('error', () => this.leave());
      if (pooled) this.query = unnamed(this);
      if (isTraced()) traceStatements(this, role);
    }

    // The pool passes a callback. A failed connection is reported only there.
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      if (!callback) return super.connect();
      super.connect((error: Error) => {
        if (error) this.leave();
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
