import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Target } from '../../src/monitor/session/session.ts';
import {
  createCluster,
  type ServerSettings,
  serverPrograms,
  startServer,
  stopServer,
} from '../../src/store/server.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** The password of every login on a test server. */
export const PASSWORD = 'a password of the tests';

/** `watcher` is the monitor's login: pg_monitor, and SELECT on tables and sequences. `app` is an application. */
export type Login = 'postgres' | 'watcher' | 'app' | 'stranger';

/** The connection of a monitor to a test server, by its Unix socket. */
export function toTarget({ host, port }: Pick<Target, 'host' | 'port'>, login = 'watcher'): Target {
  return {
    engine: 'postgres',
    connectionType: 'unix_socket',
    host,
    port,
    database: 'shop',
    username: login,
    password: PASSWORD,
    tls: 'disable',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
  };
}

/** The programs of a PostgreSQL 14, whose support ended on 2026-11-12. */
export function oldPrograms(): string {
  return serverPrograms(`postgres-14-${process.platform}-${process.arch}`);
}

/** The programs of the tested PostgreSQL: the embedded one, or the one that `test/matrix` names. */
export function testedPrograms(): string {
  return process.env['TEST_POSTGRES_PROGRAMS'] ?? serverPrograms();
}

/** Whether the tested PostgreSQL is out of support: PG_VERSION_EOL then stays, whatever else is fixed. */
export function testsEndedVersion(): boolean {
  return testedPrograms() === oldPrograms();
}

// Autovacuum is on but never runs: it would fix what a test broke. Small, so that a few sessions saturate it.
const SETTINGS: ServerSettings = {
  autovacuum_naptime: '1d',
  max_connections: '20',
  max_prepared_transactions: '5',
  max_wal_senders: '0',
  shared_buffers: '128MB',
  shared_preload_libraries: 'pg_stat_statements',
};

const certificates = join(import.meta.dirname, '..', 'certificates');

/** Settings of a server with `ssl` on. */
const FILES = {
  'server.crt': readFileSync(join(certificates, 'server.pem'), 'utf8'),
  'expired.pem': readFileSync(join(certificates, 'expired.pem'), 'utf8'),
  'server.key': readFileSync(join(certificates, 'server.key'), 'utf8'),
};

const PLACE: ServerSettings = { listen_addresses: '', unix_socket_directories: '.' };

const SETUP = [
  `create role watcher login password '${PASSWORD}' in role pg_monitor`,
  `create role app login password '${PASSWORD}'`,
  `create role stranger login password '${PASSWORD}'`,
  'alter default privileges grant select on sequences to watcher',
  'alter default privileges grant select on tables to watcher',
  'create schema "Extra stats"',
  'grant usage on schema "Extra stats" to watcher',
  'create extension pg_stat_statements schema "Extra stats"',
];

/** A free port for a network socket. */
async function freePort(): Promise<number> {
  const holder = createServer().listen(0);
  await once(holder, 'listening');
  const address = holder.address();
  holder.close();
  if (address === null || typeof address === 'string') throw new Error('A listening socket has a port.');
  return address.port;
}

/** An address of this machine other than loopback. */
function networkAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    const found = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    if (found) return found.address;
  }
  throw new Error('This machine has no network address but loopback: give it one to test PG_NO_TLS.');
}

// Copies the run's cluster of these programs, which the first test makes: initdb takes 1 s of CPU, a copy 0.1 s.
async function copyCluster(folder: string, programs: string): Promise<void> {
  const make = (place: string) => createCluster(place, PASSWORD, SETTINGS, FILES, programs);
  const store = process.env['DBVITALS_TEST_STORE'];
  if (!store) return make(folder);
  const name = createHash('sha256').update(programs).digest('hex').slice(0, 8);
  const template = join(dirname(store), `checks-${name}`);
  if (!existsSync(template)) await make(template);
  execFileSync('cp', ['-a', template, folder]);
}

/** A PostgreSQL for one test with the database `shop`, on a Unix socket. */
export class PostgresServer {
  /** The folder of the socket. */
  readonly host: string;
  readonly port: number;
  readonly database = 'shop';
  #programs: string;
  #countsLate = false;
  readonly #folder: string;

  private constructor(programs: string, port: number) {
    this.#programs = programs;
    this.port = port;
    this.#folder = mkdtempSync(join(tmpdir(), 'checks-'));
    this.host = join(this.#folder, 'pg');
  }

  /** Creates the cluster and starts it. */
  static async start(programs = testedPrograms()): Promise<PostgresServer> {
    const server = new PostgresServer(programs, await freePort());
    await server.#create();
    return server;
  }

  async #create(): Promise<void> {
    await copyCluster(this.host, this.#programs);
    await this.resume();
    // 14 still lets everyone create objects in public, later versions don't.
    for (const database of ['template1', 'postgres']) {
      await this.run('revoke create on schema public from public', database);
    }
    const [row = {}] = await this.run(
      `select current_setting('server_version_num')::int as version`,
      'postgres',
    );
    this.#countsLate = Number(row['version']) < 150_000;
    await this.run('create database shop', 'postgres');
    await this.run(SETUP);
  }

  /** A session; the pid is in `processID`. A session that the server ends is no error of the test. */
  async open(login: Login = 'postgres', database: string = this.database): Promise<pg.Client> {
    const { host, port } = this;
    const client = new pg.Client({
      host,
      port,
      user: login,
      password: PASSWORD,
      database,
      application_name: login,
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  /** Runs statements as the superuser, one after the other as psql does, each in its own transaction. The session reports its counts when it ends: a VACUUM has one of its own. */
  async run(statements: string | readonly string[], database?: string): Promise<Record<string, unknown>[]> {
    const client = await this.open('postgres', database);
    const own = await client.query('select pg_backend_pid() as pid');
    try {
      let rows: Record<string, unknown>[] = [];
      for (const text of [statements].flat()) {
        for (const statement of text.replace(/--.*$/gm, '').split(/;\s+(?=[A-Z])/)) {
          ({ rows } = await client.query(statement));
        }
      }
      return rows;
    } finally {
      await client.end();
      if (this.#countsLate) await this.#reported(own.rows[0].pid);
    }
  }

  /** Waits for the end of a session: before 15 it reports its counts only then, and VACUUM must not be earlier. */
  async #reported(pid: number): Promise<void> {
    const client = await this.open('postgres', 'postgres');
    for (let tries = 0; tries < 600; tries++) {
      const { rows } = await client.query('select from pg_stat_activity where pid = $1', [pid]);
      if (rows.length === 0) break;
      await wait(5);
    }
    await client.end();
  }

  /** Runs statements that reload the configuration, and waits until a setting has the value. */
  async configure(statements: string, name: string, value: string): Promise<void> {
    await this.run(statements);
    await this.until(`select current_setting('${name}') = '${value}'`);
  }

  /** Waits until a condition is true; each try uses a new session. */
  async until(condition: string): Promise<void> {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await wait(50)) {
      const [row = {}] = await this.run(condition);
      if (Object.values(row)[0] === true) return;
    }
    throw new Error(`This did not come true: ${condition}`);
  }

  /** Waits until the counts of ended sessions are visible: before 15 they are in a file, at most half a second late. */
  async settle(): Promise<void> {
    if (this.#countsLate) await wait(800);
  }

  async restart(): Promise<void> {
    await this.pause();
    await this.resume();
  }

  /** Stops the server and keeps its data. */
  async pause(): Promise<void> {
    await stopServer(this.host);
  }

  async resume(settings: ServerSettings = {}): Promise<void> {
    await startServer(this.host, { ...PLACE, port: String(this.port), ...settings }, this.#programs);
  }

  /** Restarts it so that it listens on the network and 127.0.0.1 too, until the next start; returns the address. */
  async restartOnNetwork(settings: ServerSettings = {}): Promise<string> {
    const address = networkAddress();
    appendFileSync(join(this.host, 'pg_hba.conf'), `host all all ${address}/32 scram-sha-256\n`);
    await this.pause();
    await this.resume({ listen_addresses: `${address}, 127.0.0.1`, ...settings });
    return address;
  }

  /** Replaces it with a fresh cluster of another version, with the same address and logins. */
  async replace(programs: string): Promise<void> {
    await this.pause();
    rmSync(this.host, { recursive: true });
    this.#programs = programs;
    await this.#create();
  }

  async stop(): Promise<void> {
    await this.pause();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
