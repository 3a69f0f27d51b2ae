import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { EMBEDDED_STORE } from '../vocabulary/hosted/embedded-store.ts';
import { makeDataFolder } from './data-folder.ts';
import { one } from './one.ts';
import { createCluster, StartFailure, serverPid, startServer, stopServer } from './server.ts';

// The role that watches the embedded store: pg_monitor, plus the sequences, granted by the first migration.
const STORE_MONITOR = 'dbvitals_monitor';

// Two arbitrary numbers: the lock of processes that use the embedded server (shared), and that of the one that serves (exclusive).
const USED_BY = 5_801;
const SERVED_BY = 5_802;

// Invalid password, which PostgreSQL also says of a role that does not exist, and a database that does not exist.
const LACKING: ReadonlySet<string> = new Set(['28P01', '3D000']);

// How long to wait for another process that starts or stops the server, and for crash recovery.
const START_PATIENCE_MS = 15_000;
const JOIN_PATIENCE_MS = 150_000;

// The longest path of a folder for a socket: sun_path has 108 bytes, and the last one is zero.
const LONGEST_SOCKET_FOLDER = 107 - '/.s.PGSQL.5432'.length;

// The socket is in the server's own folder, whose path may differ for the server.
const settings = { cluster_name: EMBEDDED_STORE, listen_addresses: '', unix_socket_directories: '.' };

// Written to postgresql.conf once, so that an operator can change them there.
const initialSettings = {
  password_encryption: 'scram-sha-256',
  synchronous_commit: 'on',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A week of logs: each day overwrites that of the week before.
  logging_collector: 'on',
  log_filename: 'postgresql-%a.log',
  log_truncate_on_rotation: 'on',
};

/** Reports steps that take long, and when the server is lost (`warn`) or back. */
export type Say = (step: string, level?: 'info' | 'warn') => void;

/** A process's use of the embedded server. The last process to leave stops the server. */
export interface EmbeddedStore {
  address: [pg.ClientConfig];
  /** Credentials of the role that watches the store itself. */
  monitor: { host: string; port: number; database: string; user: string; password: string };
  /** Claims the data folder for serving. Throws if another process serves from it. */
  claimForServing(): Promise<void>;
  leave(): Promise<void>;
}

/** Whether the PostgreSQL of the data folder runs already, so that a process joins it and starts none. */
export function isEmbeddedRunning(dataFolder: string): boolean {
  return serverPid(join(resolve(dataFolder), 'postgres')) !== null;
}

/**
 * Joins the PostgreSQL of the data folder. Creates and starts it if needed, even after a killed process. Reports steps that
 * take long to `say`. A server that dies while in use is started again.
 */
export async function joinEmbedded(dataFolder: string, say: Say): Promise<EmbeddedStore> {
  const folder = join(resolve(dataFolder), 'postgres');
  if (Buffer.byteLength(folder) > LONGEST_SOCKET_FOLDER) {
    throw new Error(
      `The path of the data folder is too long for a Unix socket (at most ${LONGEST_SOCKET_FOLDER - '/postgres'.length} bytes): set DBVITALS_DATA_DIR to a shorter path.`,
    );
  }
  if (serverPid(folder) === null) makeDataFolder(dataFolder);
  if (!existsSync(folder)) {
    say('preparing PostgreSQL (once, a few seconds)');
    const passwords = { superuser: secret(), owner: secret(), monitor: secret() };
    await createCluster(folder, passwords.superuser, initialSettings, {
      'dbvitals.json': JSON.stringify(passwords),
    });
  }
  const passwords = readPasswords(folder);
  const connect = (user: string, password: string, database: string): pg.ClientConfig => ({
    ...{ host: folder, port: 5432, user, password, database },
  });
  const asSuperuser = connect('postgres', passwords.superuser, 'postgres');
  const asOwner = connect('dbvitals_owner', passwords.owner, 'dbvitals');

  let leaving = false;
  let serving = false;
  let held = Promise.resolve(); // pending while the holder reconnects
  let holder = await hold();

  /** Returns a session that holds the shared lock. Starts the server if it is not running. */
  async function hold(): Promise<pg.Client> {
    const began = Date.now();
    let isSaid = false;
    for (;;) {
      try {
        const starts = serverPid(folder) === null;
        if (starts) {
          if (!isSaid) say('starting PostgreSQL');
          isSaid = true;
          await startServer(folder, settings);
        }
        const client = await connectAsOwner(starts);
        await client.query('select pg_advisory_lock_shared($1)', [USED_BY]);
        if (serving) await client.query('select pg_advisory_lock($1)', [SERVED_BY]);
        client.once('end', () => {
          if (!leaving) say('the connection to PostgreSQL was lost', 'warn');
          held = holdAgain();
        });
        return client;
      } catch (error) {
        // Another process may have started the server first or may be stopping it, or its old children may still be ending.
        const patience = error instanceof StartFailure ? START_PATIENCE_MS : JOIN_PATIENCE_MS;
        if (leaving || Date.now() - began > patience || !isPassing(error)) throw error;
        await wait(100);
      }
    }
  }

  /** Connects as the owner. The process that started the server may have ended before it created the owner's role and database. */
  async function connectAsOwner(mayLackDatabase: boolean): Promise<pg.Client> {
    if (mayLackDatabase) await prepareDatabase(asSuperuser, passwords);
    const client = new pg.Client({ ...asOwner, application_name: 'dbvitals holder' });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch (error) {
      if (mayLackDatabase || !LACKING.has(String((error as { code?: string }).code))) throw error;
      return connectAsOwner(true);
    }
    return client;
  }

  /** Restarts a server that ended unexpectedly, however long that takes. */
  async function holdAgain(): Promise<void> {
    while (!leaving) {
      try {
        holder = await hold();
        say('the connection to PostgreSQL is back');
        return;
      } catch {
        if (!leaving) await wait(1_000);
      }
    }
  }

  return {
    address: [asOwner],
    monitor: {
      host: folder,
      port: 5432,
      database: 'dbvitals',
      user: STORE_MONITOR,
      password: passwords.monitor,
    },
    async claimForServing() {
      const { rows } = await holder.query('select pg_try_advisory_lock($1) as claimed', [SERVED_BY]);
      if (!one(rows, 'claim the data folder').claimed) {
        throw new Error(
          `The data folder ${dataFolder} is in use by another "dbvitals serve": stop it, or set DBVITALS_DATA_DIR to another folder.`,
        );
      }
      serving = true;
    },
    async leave() {
      leaving = true;
      // A reconnection under way ends first, so that a server that comes back now is stopped too.
      await held;
      try {
        await holder.query('select pg_advisory_unlock_shared($1)', [USED_BY]);
        const { rows } = await holder.query('select pg_try_advisory_lock($1) as last', [USED_BY]);
        if (one(rows, 'leave the data folder').last) await stopServer(folder);
      } catch {
        // The server has already ended.
      }
      await holder.end().catch(() => {});
    },
  };
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}

function readPasswords(folder: string): { superuser: string; owner: string; monitor: string } {
  try {
    return JSON.parse(readFileSync(join(folder, 'dbvitals.json'), 'utf8'));
  } catch {
    throw new Error(
      `The embedded store in ${folder} can't be read: run dbvitals as the user that created it, or set DBVITALS_DATA_DIR to another folder.`,
    );
  }
}

// Errors of a start or a join that pass: another process is starting or stopping the server, or was just killed.
function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  const states = [
    '57P01',
    '57P02',
    '57P03',
    'ECONNREFUSED',
    'ECONNRESET',
    'ENOENT',
    'EPIPE',
    '23505',
    '42710',
    '42P04',
  ];
  return (
    error instanceof StartFailure ||
    states.includes(code ?? '') ||
    /Connection terminated|timeout expired/.test(message)
  );
}

/** Creates missing roles and the database. */
async function prepareDatabase(
  asSuperuser: pg.ClientConfig,
  passwords: { owner: string; monitor: string },
): Promise<void> {
  const client = new pg.Client({ ...asSuperuser, application_name: 'dbvitals set-up' });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      'select rolname as name from pg_roles union all select datname from pg_database',
    );
    const there = new Set(rows.map(({ name }) => name));
    const run = (name: string, statement: string) => (there.has(name) ? undefined : client.query(statement));
    const { owner, monitor } = passwords;
    await run('dbvitals_owner', `create role dbvitals_owner login createrole password '${owner}'`);
    await run(STORE_MONITOR, `create role ${STORE_MONITOR} login in role pg_monitor password '${monitor}'`);
    await run('dbvitals', 'create database dbvitals owner dbvitals_owner');
  } finally {
    await client.end().catch(() => {});
  }
}
