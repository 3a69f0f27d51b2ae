import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { makeDataFolder } from './data-folder.ts';
import { one } from './one.ts';
import { createCluster, StartFailure, serverPid, startServer, stopServer } from './server.ts';

// The role that watches the embedded store itself: pg_monitor, and by the first migration the sequences.
const STORE_MONITOR = 'dbvitals_monitor';

// Any two numbers: who uses the embedded server (shared), and who serves from it (exclusive).
const USED_BY = 5_801;
const SERVED_BY = 5_802;

// How long another process may take to start or stop the server, and crash recovery to let us in.
const START_PATIENCE_MS = 15_000;
const JOIN_PATIENCE_MS = 150_000;

// Where the socket's path has no room in the folder: sun_path holds 108 bytes, the last one zero.
const LONGEST_SOCKET_FOLDER = 107 - '/.s.PGSQL.5432'.length;

// The socket lies in the server's own folder, which the server may know by another path than we do.
const settings = { listen_addresses: '', unix_socket_directories: '.' };

// Written into postgresql.conf once, so that an operator can change them there.
const initialSettings = {
  password_encryption: 'scram-sha-256',
  synchronous_commit: 'on',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // A week of logs, each day's overwriting that of the week before.
  logging_collector: 'on',
  log_filename: 'postgresql-%a.log',
  log_truncate_on_rotation: 'on',
};

/** Hears of steps that take long, and of a server that is lost (`warn`) or back. */
export type Say = (step: string, level?: 'info' | 'warn') => void;

/** A process's hold on the embedded server. The last one to leave stops it. */
export interface EmbeddedStore {
  address: [pg.ClientConfig];
  /** Credentials of the role that watches the store itself. */
  monitor: { host: string; port: number; database: string; user: string; password: string };
  /** Claims the data folder for serving; throws when another process serves from it. */
  claimForServing(): Promise<void>;
  leave(): Promise<void>;
}

/**
 * Joins the PostgreSQL of the data folder, made and started first where needed, whatever a killed process left behind.
 * `say` hears of every step that takes long. A server that dies while it is held is started again.
 */
export async function joinEmbedded(dataFolder: string, say: Say): Promise<EmbeddedStore> {
  const folder = join(resolve(dataFolder), 'postgres');
  if (Buffer.byteLength(folder) > LONGEST_SOCKET_FOLDER) {
    throw new Error(
      `The path of the data folder is too long for a Unix socket (at most ${LONGEST_SOCKET_FOLDER - '/postgres'.length} bytes): set DBVITALS_DATA_DIR to a shorter one.`,
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
  let held = Promise.resolve(); // pending while the holder is being found anew
  let holder = await hold();

  /** A session that holds the shared lock, on a server that runs; the server is started where it does not. */
  async function hold(): Promise<pg.Client> {
    const began = Date.now();
    let isSaid = false;
    for (;;) {
      try {
        if (serverPid(folder) === null) {
          if (!isSaid) say('starting PostgreSQL');
          isSaid = true;
          await startServer(folder, settings);
        }
        await prepareDatabase(asSuperuser, passwords);
        const client = new pg.Client({ ...asOwner, application_name: 'dbvitals holder' });
        client.on('error', () => {});
        await client.connect();
        await client.query('select pg_advisory_lock_shared($1)', [USED_BY]);
        if (serving) await client.query('select pg_advisory_lock($1)', [SERVED_BY]);
        client.once('end', () => {
          if (!leaving) say('the connection to PostgreSQL was lost', 'warn');
          held = holdAgain();
        });
        return client;
      } catch (error) {
        // Another process may have been quicker, may just be stopping it, or its old children may still be ending.
        const patience = error instanceof StartFailure ? START_PATIENCE_MS : JOIN_PATIENCE_MS;
        if (leaving || Date.now() - began > patience || !isPassing(error)) throw error;
        await wait(100);
      }
    }
  }

  /** The server ended under us: brings it back, however long that takes. */
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
          `The data folder ${dataFolder} is in use by another "dbvitals serve": stop that one, or set DBVITALS_DATA_DIR to another folder.`,
        );
      }
      serving = true;
    },
    async leave() {
      leaving = true;
      // What began before ends first: a server that comes back only now is stopped too, and its session let go.
      await held;
      try {
        await holder.query('select pg_advisory_unlock_shared($1)', [USED_BY]);
        const { rows } = await holder.query('select pg_try_advisory_lock($1) as last', [USED_BY]);
        if (one(rows, 'leave the data folder').last) await stopServer(folder);
      } catch {
        // The server is gone already: nothing to stop.
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
      `The embedded store in ${folder} can not be read: run dbvitals as the user who made it, or set DBVITALS_DATA_DIR to another folder.`,
    );
  }
}

// What a start or a join may meet while another process starts, stops or has just been killed.
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

/** Makes the roles and the database that are not there yet. */
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
