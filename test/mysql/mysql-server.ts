import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import type { Row } from '../../src/checks/fault.ts';
import { pastedSql } from '../support/pasted-sql.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { createData, isMysql, type ServerName, serverProgram, TESTED } from './tested-server.ts';

/** The password of every login on a test server except MariaDB's superuser, who logs in by socket. */
export const PASSWORD = 'a password of the tests';

/** `watcher` is the monitor's login, with the GRANTs of docs/least-privilege.md. `app` is an application. */
export type Login = 'root' | 'watcher' | 'app' | 'stranger';

/** Settings of the server: name to value. */
export type Settings = Readonly<Record<string, string>>;

// Small and quick to start, and without the findings of a fresh Debian: docs/checks/MY_BINLOG_OFF.md and
// MY_LOCAL_INFILE.md explain them.
const SETTINGS: Settings = {
  'binlog-expire-logs-seconds': '864000',
  'character-set-server': 'utf8mb4', // as Debian sets it
  'innodb-buffer-pool-size': '32M',
  'local-infile': 'OFF',
  'log-bin': 'binlog',
  'max-connections': '20',
  'performance-schema': 'ON',
  'skip-networking': 'ON',
  'sync-binlog': '1',
};

const MYSQL_SETTINGS: Settings = {
  'cte-max-recursion-depth': '1000000', // for `numbers`
  'innodb-buffer-pool-chunk-size': '1M',
  'innodb-purge-rseg-truncate-frequency': '1', // the history list gets shorter at once
  'innodb-redo-log-capacity': '96M',
  mysqlx: 'OFF',
  'secure-file-priv': 'NULL', // Debian's folder for it is not on this machine
};

const MARIADB_SETTINGS: Settings = { 'innodb-log-file-size': '96M' };

const MARIADB_GRANTS = [
  'grant process, slave monitor, references on *.* to watcher@localhost',
  'grant select on mysql.global_priv to watcher@localhost',
  'grant select on mysql.user to watcher@localhost',
  'grant select on performance_schema.* to watcher@localhost',
];

/** Those of docs/least-privilege.md. */
function readMysqlGrants(): string[] {
  return pastedSql('MySQL')
    .flat()
    .filter((statement) => statement.startsWith('grant '))
    .map((statement) => statement.replace("dbvitals_watcher@'%'", 'watcher@localhost'));
}

/** What creates the database and the logins. */
function setupStatements(server: ServerName): string[] {
  return [
    'create database shop',
    `create user watcher@localhost identified by '${PASSWORD}'`,
    ...(isMysql(server) ? readMysqlGrants() : MARIADB_GRANTS),
    `create user app@localhost identified by '${PASSWORD}'`,
    'grant all on shop.* to app@localhost',
    `create user stranger@localhost identified by '${PASSWORD}'`,
  ];
}

/** Codes of a session that the server ended, at its start or while it asked. */
const CUT_OFF: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'PROTOCOL_CONNECTION_LOST']);

/** A MySQL or MariaDB for one test, by default as `tested-server.ts` chooses, with the database `shop`, on a Unix socket. */
export class MysqlServer {
  /** The socket's address in a connection URL. */
  readonly socket: string;
  /** Its command-line client, and the superuser's login. */
  readonly client: string;
  readonly superuser: string;
  readonly password: string;
  readonly #server: ServerName;
  readonly #folder: string;
  readonly #settings: Settings;
  #process: ChildProcess | null = null;

  private constructor(settings: Settings, server: ServerName) {
    const onMysql = isMysql(server);
    this.#server = server;
    this.client = serverProgram(onMysql ? 'mysql' : 'mariadb', server);
    this.superuser = onMysql ? 'root' : userInfo().username;
    this.password = onMysql ? PASSWORD : '';
    this.#folder = mkdtempSync(join(tmpdir(), 'mysql-server-'));
    this.socket = join(this.#folder, 'mysqld.sock');
    this.#settings = { ...SETTINGS, ...(onMysql ? MYSQL_SETTINGS : MARIADB_SETTINGS), ...settings };
  }

  /** Creates an empty server with the logins above, and starts it; `settings` apply to each start. */
  static async start(settings: Settings = {}, of: ServerName = TESTED): Promise<MysqlServer> {
    const server = new MysqlServer(settings, of);
    createData(of, server.data, server.#folder, userInfo().username, PASSWORD);
    await server.resume();
    // It creates logins for the machine's own name, which a fresh Debian installation does not have.
    await server.run(setupStatements(of), '');
    return server;
  }

  /** Its data folder, for use while it is stopped. */
  get data(): string {
    return join(this.#folder, 'data');
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** A session over the socket. One that the server ends is no error of the test. */
  async open(
    login: Login = 'root',
    database = 'shop',
    connectAttributes: Readonly<Record<string, string>> = {},
  ): Promise<mysql.Connection> {
    const session = await mysql.createConnection({
      socketPath: this.socket,
      user: login === 'root' ? this.superuser : login,
      password: login === 'root' ? this.password : PASSWORD,
      database: login === 'stranger' ? '' : database,
      supportBigNumbers: true,
      decimalNumbers: true,
      connectAttributes: { ...connectAttributes },
    });
    session.on('error', () => {});
    return session;
  }

  /** Starts a backup of the database `shop` as the superuser. Its output is a pipe. */
  dump(...tables: string[]): ChildProcessByStdio<null, Readable, null> {
    const program = serverProgram(isMysql(this.#server) ? 'mysqldump' : 'mariadb-dump', this.#server);
    const login = [`--socket=${this.socket}`, `--user=${this.superuser}`];
    return spawn(program, ['--no-defaults', ...login, '--single-transaction', 'shop', ...tables], {
      env: { ...process.env, MYSQL_PWD: this.password },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }

  /** Runs statements as the superuser, one after the other; gives the rows of the last. */
  async run(statements: string | readonly string[], database = 'shop'): Promise<Row[]> {
    const session = await this.open('root', database);
    try {
      let rows: Row[] = [];
      for (const statement of [statements].flat()) {
        const [result] = await session.query(statement);
        rows = Array.isArray(result) ? (result as Row[]) : [];
      }
      return rows;
    } finally {
      await session.end();
    }
  }

  /** Ends all sessions of clients, so that what a failed test left locked fails no other. */
  async endSessions(): Promise<void> {
    const others = await this.run(
      `select id from information_schema.processlist where id <> connection_id() and command in ('Sleep', 'Query')`,
    );
    for (const { id } of others) await this.run(`kill ${Number(id)}`).catch(() => {}); // it has ended
  }

  /** Waits until a condition is true; each try uses a new session. A server that changes its state may cut one off. */
  async until(condition: string): Promise<void> {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await wait(50)) {
      const [row = {}] = await this.run(condition).catch((error: { code?: string }) => {
        if (CUT_OFF.has(`${error.code}`)) return [];
        throw error;
      });
      if (Number(Object.values(row)[0]) === 1) return;
    }
    throw new Error(`This did not come true: ${condition}`);
  }

  /** Starts it; `settings` apply until the next start. */
  async resume(settings: Settings = {}): Promise<void> {
    const all = { ...this.#settings, ...settings };
    const log = join(this.#folder, 'error.log');
    this.#process = spawn(
      serverProgram(isMysql(this.#server) ? 'mysqld' : 'mariadbd', this.#server),
      [
        '--no-defaults',
        `--datadir=${this.data}`,
        `--socket=${this.socket}`,
        `--pid-file=${join(this.#folder, 'pid')}`,
        `--tmpdir=${this.#folder}`, // one that starts clears it of all servers' temporary tables
        `--log-error=${log}`,
        `--user=${userInfo().username}`,
        ...Object.entries(all).map(([name, value]) => `--${name}=${value}`),
      ],
      { stdio: 'ignore' },
    );
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
      if (hasEnded(this.#process)) break;
      try {
        await (await this.open('root', '')).end();
        return;
      } catch {
        await wait(50);
      }
    }
    throw new Error(`The server did not start:\n${readFileSync(log, 'utf8').slice(-4_000)}`);
  }

  /** Stops the server and keeps its data. */
  async pause(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const running = this.#process;
    this.#process = null;
    if (!running || hasEnded(running)) return;
    running.kill(signal);
    await once(running, 'exit');
  }

  async restart(settings: Settings = {}): Promise<void> {
    await this.pause();
    await this.resume(settings);
  }

  async stop(): Promise<void> {
    await this.pause('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
