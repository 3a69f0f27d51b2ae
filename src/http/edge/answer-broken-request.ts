import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Rejection } from '../../platform/rejection.ts';
import type { ConnectionFailure } from '../../platform/telemetry/metrics.ts';
import { badRequest, headersTooLarge } from '../errors.ts';
import { type Budget, rateHeaders } from '../rate-headers.ts';
import { endConnection } from './end-connection.ts';
import type { Pipelining } from './pipelining.ts';

/** The answer to a malformed request. */
export interface BrokenAnswer {
  /** Of its `X-Request-Id`. */
  id: string;
  status: number;
  address: string;
}

/** What the answers to malformed requests need. */
interface BrokenOptions {
  budgetOf: (address: string) => Budget;
  /** The headers of every answer. */
  always: readonly string[];
  /** Logs an answer. */
  answered: (answer: BrokenAnswer) => void;
}

/** Why a connection failed, from Node's error code. */
function failureOf({ code = '' }: NodeJS.ErrnoException): ConnectionFailure {
  if (/^ERR_(?:SSL|TLS)_/.test(code)) return 'handshake';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'slow';
  return code.startsWith('HPE_') || code === '' ? 'malformed' : 'reset';
}

/**
 * Answers a malformed request with the API's error envelope, after the requests before it, and closes the connection.
 */
export function answerBroken(
  error: NodeJS.ErrnoException,
  socket: Socket,
  pipelining: Pipelining,
  { budgetOf, always, answered }: BrokenOptions,
): void {
  // The client is gone, or TLS is not established yet.
  if (/^(?:reset|handshake)$/.test(failureOf(error)) || !socket.writable) {
    socket.destroy();
    return;
  }
  pipelining.stop(socket, (answerable) => {
    const told = error.code === 'HPE_HEADER_OVERFLOW' ? headersTooLarge : badRequest;
    if (answerable) {
      const { remoteAddress: address = '' } = socket;
      const id = randomUUID();
      socket.write(message(told, ['x-request-id', id, ...always, ...rateHeaders(budgetOf(address))]));
      answered({ id, status: told.status, address });
    }
    endConnection(socket);
  });
}

/**
 * Counts and answers what Node reports about a connection, but not that the time of one is over on which no byte came: browsers open
 * connections ahead, and take an answer for that to the request which they send in this moment.
 */
export function answerFailed(
  error: NodeJS.ErrnoException,
  socket: Socket,
  pipelining: Pipelining,
  options: BrokenOptions & { failed: (failure: ConnectionFailure) => void },
): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) return void socket.destroy();
  options.failed(failureOf(error));
  answerBroken(error, socket, pipelining, options);
}

/** Formats an answer; `headers` are additional headers, names and values alternating. */
function message(error: Rejection, headers: readonly string[]): string {
  const body = error.envelope();
  const lines = [
    `HTTP/1.1 ${error.status} ${error.status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    `date: ${new Date().toUTCString()}`,
    'connection: close',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    ...headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : [])),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
