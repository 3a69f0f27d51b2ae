import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { StoreAddress } from '../../src/config/store-url.ts';
import { type Secrets, storeSecrets } from '../../src/connections/credentials.ts';
import type { ConnectionKey, MonitorDeps } from '../../src/monitor/monitor-deps.ts';
import { openPool } from '../../src/store/connect.ts';
import { migrate } from '../../src/store/migrate.ts';
import { conf, createCluster, type ServerSettings, startServer, stopServer } from '../../src/store/server.ts';

/** A test file's own PostgreSQL: an up-to-date store that is also a server to monitor. */
export interface TestStore {
  address: StoreAddress;
  /** The writer's role on the store. */
  writer: pg.Pool;
  /** The monitor's dependencies; its log is kept in `said`. */
  deps: MonitorDeps;
  said: { level: string; message: string }[];
  /** A connected superuser client, closed with the store. */
  superuser(database?: string): Promise<pg.Client>;
  /** Stops the server with a fast shutdown; `start` starts it again. */
  halt(): Promise<void>;
  start(): Promise<void>;
  /** A company account without entries. */
  account(): Promise<number>;
  /** Adds a connection of the account to the store's own server, with a pg_monitor role; optional fields override. */
  connection(accountId: number, given?: Record<string, unknown>): Promise<number>;
  /** Adds such a connection in a new account, with its password. */
  watched(given?: Record<string, unknown>, password?: string): Promise<ConnectionKey>;
  /** Changes a connection's settings as the product does, and stores its secrets (by default the watcher's password) again. */
  set(key: ConnectionKey, settings: Record<string, unknown>, secrets?: Partial<Secrets>): Promise<void>;
  stop(): Promise<void>;
}

const settings = (folder: string): ServerSettings => ({
  listen_addresses: '',
  unix_socket_directories: folder,
});

/** The password of the superuser. */
export const SUPERUSER_PASSWORD = 'unspoken-superuser';

/** The password of `watcher`. It must not occur in any help text, or the scan for secrets would find it there. */
export const WATCHER_PASSWORD = 'unspoken-watcher';

const addressOf = (folder: string): StoreAddress => [
  { host: folder, port: 5432, user: 'postgres', password: SUPERUSER_PASSWORD, database: 'store' },
];

/** A new folder for the cluster of a server that runs as its own user. */
export function storeFolder(): { above: string; folder: string } {
  const above = mkdtempSync(join(tmpdir(), 'dbvitals-test-'));
  chmodSync(above, 0o711);
  return { above, folder: join(above, 'pg') };
}

/** Creates a stopped server in `folder` with an up-to-date database `store` and the role `watcher`. */
export async function makeStore(folder: string): Promise<void> {
  await createCluster(folder, SUPERUSER_PASSWORD, {});
  await startServer(folder, settings(folder));
  try {
    const root = new pg.Client({
      host: folder,
      user: 'postgres',
      password: SUPERUSER_PASSWORD,
      database: 'postgres',
    });
    await root.connect();
    await root.query('create database store');
    await root.query(`create role watcher login in role pg_monitor password '${WATCHER_PASSWORD}'`);
    await root.end();
    await migrate(addressOf(folder));
  } finally {
    await stopServer(folder);
  }
}

/** Starts a server in a temporary folder with an up-to-date database `store`. */
export async function startTestStore(initial: ServerSettings = {}): Promise<TestStore> {
  const { above, folder } = storeFolder();
  // Copies the run's template (test/support/run-setup.ts): creating a store takes 2 s of CPU, copying one 0.1 s.
  const template = process.env['DBVITALS_TEST_STORE'];
  if (template) execFileSync('cp', ['-a', template, folder]);
  else await makeStore(folder);
  appendFileSync(join(folder, 'postgresql.conf'), conf(initial));
  await startServer(folder, settings(folder));
  const clients: pg.Client[] = [];
  const superuser = async (database = 'postgres') => {
    const options = '-c timezone=UTC'; // whatever the machine's is
    const client = new pg.Client({
      host: folder,
      user: 'postgres',
      password: SUPERUSER_PASSWORD,
      database,
      options,
    });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  const address = addressOf(folder);
  const writer = openPool(address, 'writer', { max: 10, keepsPlans: true }); // as the service's own

  const said: TestStore['said'] = [];
  const hear = (level: string) => (details: unknown, message?: string) => {
    said.push({ level, message: message ?? String(details) });
  };
  const levels = { debug: hear('debug'), info: hear('info'), warn: hear('warn'), error: hear('error') };
  const log = { ...levels, isLevelEnabled: (level: string) => level !== 'debug' };
  const store: TestStore = {
    address,
    writer,
    deps: { writer, secret: [randomBytes(32)], allowPrivateTargets: true, log },
    said,
    superuser,
    halt: () => stopServer(folder),
    start: () => startServer(folder, settings(folder)),
    async account() {
      const { rows } = await writer.query<{ account_id: number }>(
        `insert into account (name, kind, plan) values ('Test', 'company', 'enterprise') returning account_id`,
      );
      const id = rows[0]?.account_id ?? 0;
      await writer.query('insert into activity_head (account_id) values ($1)', [id]);
      return id;
    },
    async connection(accountId, given = {}) {
      const row = {
        name: 'test',
        engine: 'postgres',
        connection_type: 'unix_socket',
        host: folder,
        port: 5432,
        database: 'postgres',
        username: 'watcher',
        tls: 'disable',
        ...given,
      };
      const { rows } = await writer.query<{ connection_id: number }>(
        `insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls,
                                 created_at)
         select $1, name, engine, connection_type, host, port, database, username, tls, now()
           from jsonb_populate_record(null::connection, $2)
         returning connection_id`,
        [accountId, JSON.stringify(row)],
      );
      return rows[0]?.connection_id ?? 0;
    },
    async watched(given, password = WATCHER_PASSWORD) {
      const accountId = await store.account();
      const key = { accountId, connectionId: await store.connection(accountId, given) };
      await store.set(key, {}, { password });
      return key;
    },
    async set(key, settings, secrets = {}) {
      for (const [name, value] of Object.entries(settings)) {
        const text = `update connection set ${name} = $3 where account_id = $1 and connection_id = $2`;
        await writer.query(text, [key.accountId, key.connectionId, value]);
      }
      const all = { password: WATCHER_PASSWORD, sshKey: null, ...secrets };
      await storeSecrets(writer, store.deps.secret, key, all);
    },
    async stop() {
      await Promise.all(clients.map((client) => client.end().catch(() => {})));
      await writer.end();
      await stopServer(folder);
      rmSync(above, { recursive: true, force: true });
    },
  };
  return store;
}
