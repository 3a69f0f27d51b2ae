import pg from 'pg';

/** Where the store is: one entry a host of `DATABASE_URL`, tried in turn. */
export type StoreAddress = readonly pg.ClientConfig[];

/** `owner` runs migrations, `writer` is the gate, the monitor and the commands, `reader` answers. */
export type StoreRole = 'owner' | 'writer' | 'reader';

/** How long anything may wait for the store, in milliseconds: a request's whole life (ARCHITECTURE.md, "The way of a request"). */
export const STORE_DEADLINE_MS = 2_000;

// Identifiers stay below 2^53 (they count from 1), so a JavaScript number holds them exactly.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * The addresses that a PostgreSQL URL names; several hosts are separated by commas, as libpq has them.
 * Throws a sentence that says what to do when the text is no such URL.
 */
export function parseStoreUrl(text: string): StoreAddress {
  const [, before, hosts, after] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(\/[^?#]+.*)$/.exec(text) ?? [];
  try {
    if (hosts === undefined) throw new Error('no host or database');
    return hosts.split(',').map((host) => {
      const address = { connectionString: `${before}${host}${after}` };
      new pg.Client(address); // throws when it is no URL
      return address;
    });
  } catch {
    throw new Error('DATABASE_URL must look like postgres://user:password@host:5432/database.');
  }
}

/**
 * A pool of connections to the store that act as `role`; a lost host is followed by the next one of `address`.
 * `statementTimeout`, in milliseconds, bounds each statement on both sides; without it they may take their time.
 */
export function openPool(
  address: StoreAddress,
  role: StoreRole,
  options: { max: number; pipeline?: boolean; statementTimeout?: number },
): pg.Pool {
  let preferred = 0;
  const nextHost = () => {
    preferred = (preferred + 1) % address.length;
  };
  class StoreClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, ...address[preferred] });
      this.on('error', nextHost);
    }
  }
  const pool = new pg.Pool({
    Client: StoreClient,
    application_name: `dbvitals ${role}`,
    connectionTimeoutMillis: STORE_DEADLINE_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    max: options.max,
    options: role === 'owner' ? '-c timezone=UTC' : `-c timezone=UTC -c role=dbvitals_${role}`,
    pipeline: options.pipeline ?? false,
    query_timeout: options.statementTimeout,
    statement_timeout: options.statementTimeout,
    async onConnect(client: pg.ClientBase) {
      if (address.length === 1 || role === 'reader') return;
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
      if (!rows[0]?.standby) return;
      nextHost();
      throw new Error('this host of DATABASE_URL is a standby');
    },
  });
  // An idle connection that broke is replaced at the next use; whoever holds one hears of it from the query.
  pool.on('error', () => {});
  return pool;
}

/** Runs `work` in a transaction; a failure rolls it back, and a connection that can't even do that is dropped. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
