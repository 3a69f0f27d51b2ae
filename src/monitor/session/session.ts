import type { Duplex } from 'node:stream';
import type { Row } from '../../checks/fault.ts';
import type { OwnAnswer } from '../../checks/own/own-rows.ts';
import { OwnWords } from '../../platform/text/own-words.ts';
import type { ConnectionType } from '../../vocabulary/connection-types.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import type { TlsMode } from '../../vocabulary/tls-modes.ts';
import type { Limits } from '../limits.ts';
import { ConnectRefused } from './connect-refused.ts';
import type { Tunnel } from './ssh-tunnel.ts';

/** After how long without data a server is asked whether it is still there: the system's default is two hours. */
export const KEEP_ALIVE_MS = 10_000;

/** A database server to measure, and how to log in. Plain data, because a pipe sends it to a child process. */
export interface Target {
  engine: Engine;
  connectionType: ConnectionType;
  /** For `unix_socket`, the folder of the socket, or for MySQL its file. Several hosts are `one:5432,two:5433`. */
  host: string;
  /** The port of the first host. */
  port: number;
  database: string;
  username: string;
  /** Null = none is stored. */
  password: string | null;
  /** The password is a token: over verified TLS, it may be sent in clear text to a server that asks for that. */
  isToken?: true;
  tls: TlsMode;
  /** Whether the password may be sent in clear text or as MD5. */
  passwordExposable: boolean;
  /** PEM: authorities to trust besides the system's own. For MySQL also the server's public key. */
  caCertificate: string | null;
  /** For `ssh_tunnel`. */
  tunnel: Tunnel | null;
}

/** Whether the password is a token, and only a server with a verified certificate can ask for it. */
export function isVerifiedToken({ isToken, tls }: Target): boolean {
  return isToken === true && tls === 'verify-full';
}

/** The server asked for the password itself, or for a hash that is equivalent to it. */
export class PasswordRefused extends ConnectRefused {}

/** The server asks for a login method that dbvitals never uses. */
export class LoginRefused extends ConnectRefused {}

/** A statement got no answer, not even a cancellation. */
export class NoAnswer extends OwnWords {}

/** A statement was cancelled before its time was over: somebody else did so. */
export class StatementCancelled extends OwnWords {
  /** That of the server, which is the same for a statement that took too long. */
  readonly code = '57014';

  constructor() {
    super('its statement was cancelled on the server');
  }
}

/** The server asks for an excessive number of hashing iterations, to waste the monitor's CPU time. */
export class HashingRefused extends ConnectRefused {}

/** What a run has cost the watched server so far, and how much more it may send. */
export interface Meter {
  /** Bytes read. */
  bytes: number;
  /** Statements of checks, without the `begin`, `set local` and `commit` around each. */
  statements: number;
  /** From sending a statement to its last row. */
  milliseconds: number;
}

/** One connection to one database of a target; it reads only. */
export interface Session {
  /** The protocol that is spoken, such as TLSv1.3; null = no TLS. */
  readonly tls: string | null;
  /** Whether the server has ended it: each statement fails before it is sent. */
  isLost?(): boolean;
  /**
   * Runs one statement, READ ONLY and under the limits of the safety contract. One that is repeated while the session is open is
   * planned once, where the server can do so.
   */
  read(statement: string, options?: { isRepeated?: boolean }): Promise<Row[]>;
  close(): Promise<void>;
}

/** A session that was just opened. It can run a statement that a member wrote. */
export interface OpenedSession extends Session {
  /**
   * Runs one statement of a member, alone and READ ONLY, and rolls back. It finds tables as the login does. It may change the
   * session, so nothing else is read with it.
   */
  readOwn(statement: string): Promise<OwnAnswer>;
}

/** The route to a server: a stream that is not connected yet, and limits for what it may receive. */
export interface Route {
  stream: Duplex;
  host: string;
  port: number;
  meter: Meter;
  limits: Limits;
  /** PostgreSQL: texts come as the bytes of the database's encoding. */
  inBytes?: true;
}

/** Aborts when the login takes too long, or when the session must end. */
export interface Deadline {
  connecting: AbortSignal;
  signal: AbortSignal;
}

/** How long a session waits for an answer, and what ends it. */
interface Patience {
  answerMs: number;
  signal: AbortSignal;
  isLost: () => boolean;
  destroy: (reason: Error) => void;
}

/** Returns what waits for an answer of the server for `answerMs`, then ends the session with {@link NoAnswer}. */
export function answerWithin({ answerMs, signal, isLost, destroy }: Patience) {
  return async <T>(ask: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    if (isLost()) throw new OwnWords('the connection was lost');
    const silence = `it did not answer within ${answerMs / 1_000} s`;
    const timer = setTimeout(() => destroy(new NoAnswer(silence)), answerMs);
    try {
      return await ask();
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Runs a statement, and counts it with its time. */
export async function metered<T>(meter: Meter, ask: () => Promise<T>): Promise<T> {
  const began = performance.now();
  meter.statements++;
  try {
    return await ask();
  } finally {
    meter.milliseconds += performance.now() - began;
  }
}

/** Runs the statement of a member between `begin` and a rollback, and counts it. */
export async function rolledBack<T>(
  meter: Meter,
  answer: (statement: string) => Promise<unknown>,
  begin: readonly string[],
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await metered(meter, async () => {
      for (const statement of begin) await answer(statement);
      return ask();
    });
  } finally {
    await answer('rollback').catch(() => {});
  }
}

/**
 * Ends the connection when a listener of the stream throws, for example on an unknown message: the drivers parse in
 * these listeners, and the exception would end the process. Also ends it when the server sends more than `allowed`
 * bytes. Without a meter nothing is counted.
 */
export function guard(stream: Duplex, meter: Meter | null, allowed: number): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (event: string | symbol, ...details: unknown[]) => {
    const [chunk] = details;
    try {
      if (meter && event === 'data' && Buffer.isBuffer(chunk)) {
        meter.bytes += chunk.length;
        if (meter.bytes > allowed) throw new OwnWords('the server sent too much');
      }
      return emit(event, ...details);
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
      return true;
    }
  };
}
