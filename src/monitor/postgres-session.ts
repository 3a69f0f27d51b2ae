import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import pg from 'pg';
import type { Row } from '../checks/check.ts';
import type { Limits } from './limits.ts';
import type { Tunnel } from './ssh-tunnel.ts';

/** A PostgreSQL to be measured, and how to log in: plain data, which goes to a child process by a pipe. */
export interface PostgresTarget {
  connectionType: 'direct' | 'ssh_tunnel' | 'unix_socket';
  /** The folder of the socket for `unix_socket`; several hosts as `one:5432,two:5433`. */
  host: string;
  /** Of the first host. */
  port: number;
  database: string;
  username: string;
  /** Null = none is stored. */
  password: string | null;
  tls: 'verify-full' | 'require' | 'disable';
  /** The password may go out in clear text or as MD5. */
  passwordExposable: boolean;
  /** PEM: what is trusted beside the system's own authorities. */
  caCertificate: string | null;
  /** For `ssh_tunnel`. */
  tunnel: Tunnel | null;
}

/** The server asked for the password itself, or for an MD5 hash that is as good as it. */
export class PasswordRefused extends Error {}

/** A statement got no answer, not even that it was cancelled. */
export class NoAnswer extends Error {}

/** The server wants so many rounds of hashing for one login that it is meant to keep us busy. */
export class HashingRefused extends Error {}

/** What a run has cost the watched server so far, and how much more it may send. */
export interface Meter {
  /** Bytes that were read. */
  bytes: number;
  /** Statements of checks; what frames each (`begin`, `set local`, `commit`) is not counted. */
  statements: number;
  /** From sending a statement to its last row. */
  milliseconds: number;
}

/** One connection to one database of a target; it reads only. */
export interface Session {
  /** Runs one statement in a READ ONLY transaction of its own, under the limits of `beginReading`. */
  read(statement: string): Promise<Row[]>;
  close(): Promise<void>;
}

// One round trip with the statement: three for each of 60 checks were most of a run's time over a network.
const beginReading = `
  begin read only;
  set local statement_timeout = '5s';
  set local lock_timeout = '100ms';
  set local idle_in_transaction_session_timeout = '10s';
  set local search_path = pg_catalog;
`;

// PostgreSQL's own default is 4,096; a million takes a second of one core.
const SCRAM_ITERATIONS = 1_000_000;

/** The way to a server: a stream that is not connected yet, and how much may come by it. */
export interface Way {
  stream: Duplex;
  host: string;
  port: number;
  meter: Meter;
  limits: Limits;
}

/**
 * Connects to `database` of a target by `way`. When `connecting` aborts before the login is done, or `signal` at any
 * time, the stream is destroyed. Throws what went wrong, with the server's SQLSTATE as `code` where it answered.
 */
export async function openSession(
  target: PostgresTarget,
  database: string,
  { stream, host, port, meter, limits }: Way,
  { connecting, signal }: { connecting: AbortSignal; signal: AbortSignal },
): Promise<Session> {
  const client = new pg.Client({
    host,
    port,
    database,
    user: target.username,
    // A function, because for a missing password pg would look into the environment and ~/.pgpass.
    password: () => target.password ?? '',
    ssl: tlsOptions(target),
    application_name: 'dbvitals',
    keepAlive: true,
    stream: () => stream,
  });
  let lost = false;
  client.on('error', () => {
    lost = true; // what is being awaited throws it
  });
  const { connection } = client;
  guard(stream, meter, limits.runBytes);
  // Under TLS a socket's own bytes pass unseen; those of a tunnel were counted already.
  const counter = stream instanceof Socket ? meter : { ...meter };
  connection.on('sslconnect', () => guard(connection.stream, counter, limits.runBytes));
  // Before pg's own listeners, which would answer.
  if (!target.passwordExposable) {
    connection.on('authenticationCleartextPassword', refusePassword);
    connection.on('authenticationMD5Password', refusePassword);
  }
  connection.on('authenticationSASLContinue', refuseHashing);

  const destroy = (reason: Error) => {
    connection.stream.destroy(reason);
    stream.destroy();
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
    const silence = `it did not answer within ${limits.answerMs / 1_000} s`;
    const timer = setTimeout(() => destroy(new NoAnswer(silence)), limits.answerMs);
    try {
      return await client.query(statement);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    async read(statement) {
      const began = performance.now();
      meter.statements++;
      try {
        return measuredRows(await answer(`${beginReading}${statement.trim().replace(/;$/, '')}\n;commit`));
      } catch (error) {
        await answer('rollback').catch(() => {}); // the statement's own failure is what counts
        throw error;
      } finally {
        meter.milliseconds += performance.now() - began;
      }
    },
    async close() {
      signal.removeEventListener('abort', stop);
      const timer = setTimeout(() => destroy(new Error('not closed')), 1_000);
      await client.end().catch(() => {});
      clearTimeout(timer);
      stream.destroy();
    },
  };
}

// Of several statements in one message pg gives a list of results; the last is that of `commit`.
function measuredRows(results: unknown): Row[] {
  const measured: unknown = Array.isArray(results) ? results.at(-2) : null;
  return measured instanceof pg.Result ? measured.rows : [];
}

// Node's `ca` takes the place of its own list, so that is named beside it.
function tlsOptions({ tls, caCertificate }: PostgresTarget): ConnectionOptions | false {
  if (tls === 'disable') return false;
  if (tls === 'require') return { rejectUnauthorized: false };
  if (caCertificate === null) return { rejectUnauthorized: true };
  return { rejectUnauthorized: true, ca: [...getCACertificates('default'), caCertificate] };
}

function refusePassword(): never {
  throw new PasswordRefused('the server asks for the password in clear text or as MD5');
}

function refuseHashing({ data }: { data: string }): void {
  const iterations = /(?:^|,)i=(\d+)/.exec(data)?.[1] ?? '0';
  if (Number(iterations) > SCRAM_ITERATIONS)
    throw new HashingRefused(`the server asks for more than ${SCRAM_ITERATIONS} rounds of hashing (SCRAM)`);
}

/**
 * pg parses what the server sent inside the stream's listeners; what they throw (a message of no known kind) would
 * end this process, so it ends the connection instead. So does a server that sends more than is allowed.
 */
function guard(stream: Duplex, meter: Meter, allowed: number): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (event: string | symbol, ...details: unknown[]) => {
    const [chunk] = details;
    try {
      if (event === 'data' && Buffer.isBuffer(chunk)) {
        meter.bytes += chunk.length;
        if (meter.bytes > allowed) throw new Error('the server sent too much');
      }
      return emit(event, ...details);
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
  };
}
