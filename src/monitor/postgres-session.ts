import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Row } from '../checks/check.ts';
import { type Address, pinnedSocket } from './address.ts';

/** A PostgreSQL to be measured, and how to log in. */
export interface PostgresTarget {
  connectionType: 'direct' | 'unix_socket';
  /** The folder of the socket for `unix_socket`. */
  host: string;
  port: number;
  database: string;
  username: string;
  /** Null = none is stored. */
  password: string | null;
  tls: 'verify-full' | 'require' | 'disable';
}

/** The server asked for the password itself, or for an MD5 hash that is as good as it. */
export class PasswordRefused extends Error {}

/** A statement got no answer, not even that it was cancelled. */
export class NoAnswer extends Error {}

/** How much a run reads from a server that may send without end (checks.md, "Safety contract"). */
export interface Allowance {
  bytes: number;
}

/** One connection to one database of a target; it reads only. */
export interface Session {
  /** Runs one statement in a READ ONLY transaction of its own, under the limits of the safety contract. */
  read(statement: string): Promise<Row[]>;
  close(): Promise<void>;
}

// A statement is cancelled by the server after 5 s; what has not answered by then is not going to.
const ANSWER_MS = 7_000;

const beginReading = `
  begin read only;
  set local statement_timeout = '5s';
  set local lock_timeout = '100ms';
  set local idle_in_transaction_session_timeout = '10s';
  set local search_path = pg_catalog`;

/**
 * Connects to `database` of a target at one of `addresses` (none for a Unix socket). When `connecting` aborts before
 * the login is done, or `signal` at any time, the socket is destroyed. Throws what went wrong, with the server's
 * SQLSTATE as `code` where it answered.
 */
export async function openSession(
  target: PostgresTarget,
  database: string,
  { addresses, allowance }: { addresses: Address[]; allowance: Allowance },
  { connecting, signal }: { connecting: AbortSignal; signal: AbortSignal },
): Promise<Session> {
  const socket = pinnedSocket(addresses);
  const client = new pg.Client({
    host: target.host,
    port: target.port,
    database,
    user: target.username,
    // A function, because for a missing password pg would look into the environment and ~/.pgpass.
    password: () => target.password ?? '',
    ssl: target.tls === 'disable' ? false : { rejectUnauthorized: target.tls === 'verify-full' },
    application_name: 'dbvitals',
    keepAlive: true,
    stream: () => socket,
  });
  let lost = false;
  client.on('error', () => {
    lost = true; // what is being awaited throws it
  });
  const { connection } = client;
  guard(socket, allowance);
  connection.on('sslconnect', () => guard(connection.stream, allowance));
  // Before pg's own listeners, which would send it.
  connection.on('authenticationCleartextPassword', refusePassword);
  connection.on('authenticationMD5Password', refusePassword);

  const destroy = (reason: Error) => {
    connection.stream.destroy(reason);
    socket.destroy();
  };
  const whileConnecting = AbortSignal.any([connecting, signal]);
  const giveUp = () => destroy(whileConnecting.reason);
  whileConnecting.addEventListener('abort', giveUp);
  try {
    whileConnecting.throwIfAborted();
    await client.connect();
  } catch (error) {
    destroy(new Error('not connected'));
    throw whileConnecting.aborted ? whileConnecting.reason : error;
  } finally {
    whileConnecting.removeEventListener('abort', giveUp);
  }

  const stop = () => destroy(signal.reason);
  signal.addEventListener('abort', stop);
  const answer = async (statement: string) => {
    signal.throwIfAborted();
    if (lost) throw new Error('the connection was lost');
    const timer = setTimeout(() => destroy(new NoAnswer('it did not answer within 7 s')), ANSWER_MS);
    try {
      return await client.query(statement);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    async read(statement) {
      try {
        await answer(beginReading);
        return (await answer(statement)).rows;
      } finally {
        await answer('rollback').catch(() => {}); // the statement's own failure is what counts
      }
    },
    async close() {
      signal.removeEventListener('abort', stop);
      const timer = setTimeout(() => destroy(new Error('not closed')), 1_000);
      await client.end().catch(() => {});
      clearTimeout(timer);
      socket.destroy();
    },
  };
}

function refusePassword(): never {
  throw new PasswordRefused('the server asks for the password in clear text or as MD5');
}

/**
 * pg parses what the server sent inside the stream's listeners; what they throw (a message of no known kind) would
 * end this process, so it ends the connection instead. So does a server that sends more than is allowed.
 */
function guard(stream: Duplex, allowance: Allowance): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (event: string | symbol, ...details: unknown[]) => {
    const [chunk] = details;
    try {
      if (event === 'data' && Buffer.isBuffer(chunk)) {
        allowance.bytes -= chunk.length;
        if (allowance.bytes < 0) throw new Error('the server sent too much');
      }
      return emit(event, ...details);
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
  };
}
