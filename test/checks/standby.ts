import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type ServerSettings, startServer, stopServer } from '../../src/store/server.ts';
import { type Login, PASSWORD, type PostgresServer } from './postgres-server.ts';

/** A streaming standby of a test server, on a Unix socket. */
export class Standby {
  readonly #folder: string;
  readonly #data: string;
  readonly #programs: string;
  readonly #settings: ServerSettings;

  /** Copies a paused primary; `name` is the `application_name` that the primary shows. */
  constructor(primary: PostgresServer, name: string, programs: string, settings: ServerSettings = {}) {
    this.#folder = mkdtempSync(join(tmpdir(), 'standby-'));
    this.#data = join(this.#folder, 'pg');
    this.#programs = programs;
    const copied = spawnSync('cp', ['-a', primary.host, this.#data], { encoding: 'utf8' });
    if (copied.status !== 0) throw new Error(copied.stderr);
    const signal = join(this.#data, 'standby.signal');
    writeFileSync(signal, '', { mode: 0o600 });
    const { uid, gid } = statSync(this.#data);
    chownSync(signal, uid, gid);
    this.#settings = {
      listen_addresses: '',
      unix_socket_directories: '.',
      max_wal_senders: '5', // a standby with fewer than its primary stops replaying
      port: String(primary.port),
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres password='${PASSWORD}' application_name=${quoted(name)}`,
      ...settings,
    };
  }

  /** The folder of the socket. */
  get host(): string {
    return this.#data;
  }

  async start(): Promise<void> {
    await startServer(this.#data, this.#settings, this.#programs);
  }

  async open(login: Login = 'postgres', database = 'shop'): Promise<pg.Client> {
    const client = new pg.Client({
      host: this.#data,
      port: Number(this.#settings['port']),
      user: login,
      password: PASSWORD,
      database,
    });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async run(statement: string, database?: string): Promise<Record<string, unknown>[]> {
    const client = await this.open('postgres', database);
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  /** Its address in a URL: the folder of its socket and its port. */
  get place(): string {
    return `${encodeURIComponent(this.#data)}:${this.#settings['port']}`;
  }

  async pause(): Promise<void> {
    await stopServer(this.#data);
  }

  async stop(): Promise<void> {
    await this.pause();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A value of a connection string. */
function quoted(value: string): string {
  return `'${value.replace(/['\\]/g, String.raw`\$&`)}'`;
}
