import type { Duplex } from 'node:stream';
import type { Row } from '../../checks/check.ts';
import type { ConnectionType } from '../../vocabulary/connection-types.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import type { TlsMode } from '../../vocabulary/tls-modes.ts';
import type { Limits } from '../limits.ts';
import type { Tunnel } from './ssh-tunnel.ts';

/** A database server to be measured, and how to log in: plain data, which goes to a child process by a pipe. */
export interface Target {
  engine: Engine;
  connectionType: ConnectionType;
  /** For `unix_socket` the folder of the socket, of MySQL its file; several hosts as `one:5432,two:5433`. */
  host: string;
  /** Of the first host. */
  port: number;
  database: string;
  username: string;
  /** Null = none is stored. */
  password: string | null;
  tls: TlsMode;
  /** The password may go out in clear text, or as MD5. */
  passwordExposable: boolean;
  /** PEM: what is trusted beside the system's own authorities; for MySQL also the server's public key. */
  caCertificate: string | null;
  /** For `ssh_tunnel`. */
  tunnel: Tunnel | null;
}

/** The server asked for the password itself, or for a hash that is as good as it. */
export class PasswordRefused extends Error {}

/** The server asks for something in a login that it does not get, whatever is allowed. */
export class LoginRefused extends Error {}

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
  /** The protocol that is spoken, such as TLSv1.3; null = no TLS. */
  readonly tls: string | null;
  /** Runs one statement, READ ONLY and under the limits of the safety contract. */
  read(statement: string): Promise<Row[]>;
  close(): Promise<void>;
}

/** The route to a server: a stream that is not connected yet, and how much may come by it. */
export interface Route {
  stream: Duplex;
  host: string;
  port: number;
  meter: Meter;
  limits: Limits;
}

/** Aborts when the login took too long, or the session is to end. */
export interface Deadline {
  connecting: AbortSignal;
  signal: AbortSignal;
}

/**
 * A driver parses what the server sent inside the stream's listeners; what they throw (a message of no known kind) would
 * end this process, so it ends the connection instead. So does a server that sends more than is allowed.
 */
export function guard(stream: Duplex, meter: Meter, allowed: number): void {
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
