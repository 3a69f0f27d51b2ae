import { readFileSync } from 'node:fs';
import { type Socket, Socket as TcpSocket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { column, endOfRows, greeting, packet } from '../../../test/support/hostile-mysql.ts';
import { type HostileAnswer, startHostileServer } from '../../../test/support/hostile-server.ts';
import type { Row } from '../../checks/fault.ts';
import { LIMITS } from '../limits.ts';
import { connectFailure } from './failures/connect-failure.ts';
import { openMysqlSession } from './mysql-session.ts';
import type { Target } from './session.ts';

/** The password of the login. */
export const PASSWORD = 'watching';
/** Limits that end a test soon. */
export const SHORT = { ...LIMITS, connectMs: 600, answerMs: 400 };
/** A file of the test's certificates. */
export const file = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../test/certificates', name));

interface Reply {
  rows: Row[] | null;
  /** Why there are no rows. */
  reason: string;
  kind: string;
  /** What the server heard, a message each. */
  heard: Buffer[];
  bytes: number;
}

/** A connection to a server of this machine. */
export function targetAt(port: number): Target {
  return {
    engine: 'mysql',
    connectionType: 'direct',
    host: '127.0.0.1',
    port,
    database: 'shop',
    tls: 'disable',
    username: 'watcher',
    password: PASSWORD,
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
  };
}

/** Reads from a server as a run does, and tells what came of it. */
export async function readFrom(
  greet: (socket: Socket) => Buffer | null,
  answer: HostileAnswer,
  given: Partial<Target> = {},
  limits = SHORT,
): Promise<Reply> {
  const server = await startHostileServer(answer, greet);
  const target = { ...targetAt(server.port), ...given };
  const meter = { bytes: 0, statements: 0, milliseconds: 0 };
  const way = { host: target.host, port: target.port, stream: new TcpSocket(), meter, limits };
  const ends = { connecting: AbortSignal.timeout(limits.connectMs), signal: AbortSignal.timeout(5_000) };
  const told = { rows: null, reason: '', kind: '' };
  try {
    const session = await openMysqlSession(target, target.database, way, ends);
    try {
      const rows = await session.read('select version() as version');
      return { ...told, rows, heard: server.heard, bytes: meter.bytes };
    } finally {
      await session.close();
    }
  } catch (error) {
    const { reason, kind } = connectFailure(error, limits.connectMs, target);
    return { ...told, reason, kind, heard: server.heard, bytes: meter.bytes };
  } finally {
    server.close();
  }
}

/** Greets as MySQL does. */
export const politely = () => greeting();
/** Greets as MySQL does when it has TLS. */
export const offeringTls = () => greeting({ tls: true });
/** A result of one column. */
export const oneRow = (name: string, ...row: Buffer[]) =>
  Buffer.concat([packet(1, 1), column(2, name), endOfRows(3), ...row, endOfRows(4 + row.length)]);

/** Speaks TLS from the first message on, and answers each by the next of `said`. */
export function byTls(said: Buffer[], inside: Buffer[]): HostileAnswer {
  return (sent, socket, bytes) => {
    if (sent > 0) return null;
    // What came with the request for TLS is TLS.
    socket.removeAllListeners('data').pause().unshift(bytes.subarray(36));
    const identity = { cert: file('server.pem'), key: file('server.key') };
    const secure = new TLSSocket(socket, { isServer: true, ...identity });
    secure.on('error', () => {});
    secure.on('data', (message) => {
      inside.push(message);
      secure.write(said.shift() ?? '');
    });
    return null;
  };
}

/** A connection whose server has to prove its name. */
export const verified = {
  tls: 'verify-full',
  host: 'localhost',
  caCertificate: file('authority.pem').toString(),
} as const;
