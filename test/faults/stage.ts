import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Environment, runJson, type Service, startService } from '../contract/running-service.ts';
import { SHIPPED_FLAGS } from '../support/shipped-flags.ts';
import { type Load, type LoadOptions, startLoad } from './load.ts';

/** An account with a key. */
interface Account {
  id: number;
  keyId: number;
  key: string;
}

/** A service without a monitor on a new embedded store, with an account whose limit is never reached. */
export interface Stage extends Account {
  /** The first service or its replacement. */
  service: Service;
  /** The folder of the embedded PostgreSQL's socket and files. */
  storeFolder: string;
  /** Loads the first service, or the service that `origin` returns for a loop's number, until the stage ends. */
  load(options?: LoadOptions & { origin?: (loop: number) => string }): Load;
  /** Restarts the first service on the same store. */
  restart(): Promise<void>;
  /** Starts another service on the store; `url` is another route to the store. */
  instance(environment?: Environment, args?: string[]): Promise<Service>;
  /** The URL of the store's owner at a host, which may be the socket's folder, and a port. */
  storeUrl(host: string, port: number): string;
  /** Creates another account, by default with the enterprise plan. */
  account(...options: string[]): Promise<Account>;
  /** Runs `dbvitals …` on the store and returns its JSON output. */
  command<T>(...args: string[]): Promise<T>;
  /** Queries the store as superuser, without row-level security. */
  query<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  /** A connected superuser client, closed with the stage. */
  superuser(): Promise<pg.Client>;
  stop(): Promise<void>;
}

/** A limit that no load reaches. */
export const UNLIMITED = ['--requests-per-minute', '100000'];

/** Starts the stage; `above` is the working folder if a fault needs its own. */
export async function setStage(environment: Environment = {}, above = tmpdir()): Promise<Stage> {
  const scratch = mkdtempSync(join(above, 'dbvitals-faults-'));
  chmodSync(scratch, 0o711);
  const dataFolder = join(scratch, 'data');
  const storeFolder = join(dataFolder, 'postgres');
  const settings = { DBVITALS_DATA_DIR: dataFolder, ...environment };
  const start = () => startService(settings, ['--no-monitor'], SHIPPED_FLAGS);
  const others: Service[] = [];
  const clients: pg.Client[] = [];
  const loads: Load[] = [];
  const service = await start();
  const passwords = JSON.parse(readFileSync(join(storeFolder, 'dbvitals.json'), 'utf8'));
  const command = <T>(...args: string[]) => runJson<T>(args, { DBVITALS_DATA_DIR: dataFolder });
  const account = async (...options: string[]) => {
    const named = ['--name', 'Faults', '--plan', 'enterprise', ...options];
    const { id } = await command<{ id: number }>('account', 'create', ...named);
    const made = ['key', 'create', '--account', `${id}`, '--name', 'faults'];
    const { id: keyId, key } = await command<{ id: number; key: string }>(...made);
    return { id, keyId, key };
  };
  const superuser = async () => {
    const connection = { user: 'postgres', password: passwords.superuser, database: 'dbvitals' };
    const client = new pg.Client({ host: storeFolder, ...connection });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  const storeUrl = (host: string, port: number) =>
    `postgres://dbvitals_owner:${passwords.owner}@${encodeURIComponent(host)}:${port}/dbvitals`;
  const stage: Stage = {
    id: 0,
    keyId: 0,
    key: '',
    service,
    storeFolder,
    storeUrl,
    account,
    command,
    superuser,
    load({ origin = () => stage.service.origin, ...options } = {}) {
      const load = startLoad(stage.key, origin, options);
      loads.push(load);
      return load;
    },
    async restart() {
      stage.service = await start();
    },
    async instance(given = {}, args = []) {
      const shared = {
        DATABASE_URL: storeUrl(storeFolder, 5432),
        DBVITALS_SECRET_KEY: readFileSync(join(dataFolder, 'secret.key'), 'utf8').trim(),
      };
      const started = await startService({ ...shared, ...given }, ['--no-monitor', ...args], SHIPPED_FLAGS);
      others.push(started);
      return started;
    },
    async query<T extends pg.QueryResultRow>(text: string, values: unknown[] = []) {
      const client = await superuser();
      try {
        return (await client.query<T>(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    async stop() {
      await Promise.all(loads.map((load) => load.stop()));
      await Promise.all(clients.map((client) => client.end().catch(() => {})));
      await Promise.all(others.map((other) => other.stop()));
      await stage.service.stop();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
  try {
    return Object.assign(stage, await account(...UNLIMITED));
  } catch (error) {
    await stage.stop();
    throw error;
  }
}

/** Starts the stage, runs `act`, and always cleans up. */
export async function onStage<T>(act: (stage: Stage) => Promise<T>, environment?: Environment): Promise<T> {
  const stage = await setStage(environment);
  try {
    return await act(stage);
  } finally {
    await stage.stop();
  }
}
