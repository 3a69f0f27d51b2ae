import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import {
  createCluster,
  type ServerSettings,
  serverPrograms,
  startServer,
  stopServer,
} from '../../src/database/server.ts';

/** Of every login on a test server. */
export const PASSWORD = 'a password of the tests';

/** `watcher` is what the monitor logs in as: pg_monitor, and SELECT on the sequences. `app` is an application. */
export type Login = 'postgres' | 'watcher' | 'app' | 'stranger';

/** The programs of a PostgreSQL 14, whose support ended on 2026-11-12. */
export function oldPrograms(): string {
  return serverPrograms(`postgres-14-${process.platform}-${process.arch}`);
}

// Autovacuum is on but never comes by: it would mend what a test broke. Small, so that a few sessions saturate it.
const SETTINGS: ServerSettings = {
  autovacuum_naptime: '1d',
  max_connections: '20',
  max_wal_senders: '0',
  shared_buffers: '128MB',
};

const PLACE: ServerSettings = { listen_addresses: '', unix_socket_directories: '.' };

const SETUP = [
  `create role watcher login password '${PASSWORD}' in role pg_monitor`,
  `create role app login password '${PASSWORD}'`,
  `create role stranger login password '${PASSWORD}'`,
  'alter default privileges grant select on sequences to watcher',
];

/** A PostgreSQL of a test's own with the database `shop`, on a Unix socket. */
export class PostgresServer {
  /** The socket's folder. */
  readonly host: string;
  readonly port = 5432;
  readonly database = 'shop';
  #programs: string;
  readonly #folder: string;

  private constructor(programs: string) {
    this.#programs = programs;
    this.#folder = mkdtempSync(join(tmpdir(), 'checks-'));
    this.host = join(this.#folder, 'pg');
  }

  /** Makes the cluster and starts it. */
  static async start(programs = serverPrograms()): Promise<PostgresServer> {
    const server = new PostgresServer(programs);
    await server.#create();
    return server;
  }

  async #create(): Promise<void> {
    await createCluster(this.host, PASSWORD, SETTINGS, {}, this.#programs);
    await this.resume();
    await this.run('create database shop', 'postgres');
    for (const statement of SETUP) await this.run(statement);
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

  /** Runs statements as the superuser, one after the other as psql would: each in a transaction of its own. */
  async run(statements: string, database: string = this.database): Promise<Record<string, unknown>[]> {
    const client = await this.open('postgres', database);
    try {
      let rows: Record<string, unknown>[] = [];
      for (const statement of statements.replace(/--.*$/gm, '').split(/;\s+(?=[A-Z])/)) {
        ({ rows } = await client.query(statement));
      }
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Runs statements that make the server read its configuration again, and waits until a setting has the value. */
  async configure(statements: string, name: string, value: string): Promise<void> {
    await this.run(statements);
    await this.until(`select current_setting('${name}') = '${value}'`);
  }

  /** Waits until a condition, asked by a session of its own each time, comes true. */
  async until(condition: string): Promise<void> {
    for (let tries = 0; tries < 100; tries++) {
      const [row = {}] = await this.run(condition);
      if (Object.values(row)[0] === true) return;
      await wait(50);
    }
    throw new Error(`This did not come true: ${condition}`);
  }

  async restart(): Promise<void> {
    await this.pause();
    await this.resume();
  }

  /** Stops the server; its data stay. */
  async pause(): Promise<void> {
    await stopServer(this.host);
  }

  async resume(): Promise<void> {
    await startServer(this.host, PLACE, this.#programs);
  }

  /** Puts a fresh cluster of another version in its place, under the same address and with the same logins. */
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
