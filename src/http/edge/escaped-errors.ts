import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { ESCAPES } from '../../platform/telemetry/metrics.ts';

/** Counts an escaped error. */
export type CountEscape = (from: (typeof ESCAPES)[number]) => void;

// The connection that the current work belongs to, across everything that it awaits.
const client = new AsyncLocalStorage<Socket>();

/** Errors of a peer that disconnected. They do not affect the program's state. */
const GONE = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'ENOTCONN',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/**
 * Keeps errors that escape a request from ending the process: closes the request's connection, logs the error and counts it
 * (docs/decisions/0012).
 */
export class EscapedErrors {
  readonly #log: FastifyBaseLogger;
  readonly #count: CountEscape;

  constructor(log: FastifyBaseLogger, count: CountEscape) {
    this.#log = log;
    this.#count = count;
  }

  /** Attributes all later errors of a server's requests to their connections. Call it before the first connection. */
  follow(server: Server): void {
    // Added before Node's own listener, so that everything its parser calls later inherits this context.
    const enter = (socket: Socket) => client.enterWith(socket);
    server.prependListener('connection', enter).prependListener('secureConnection', enter);
    // The kernel may refuse a connection for want of memory. Without a listener, that ends the process.
    server.on('error', (error) => {
      if (!server.listening) return; // a failure to listen has its own handler
      this.#count('connection');
      this.#log.error({ err: error }, 'a connection could not be accepted');
    });
  }

  /** Does `work` for a client. Never throws. */
  readonly guard = (socket: Socket, work: () => void): void => {
    try {
      work();
    } catch (error) {
      this.drop(socket, error);
    }
  };

  /** Closes the connection of a request with an escaped error. */
  drop(socket: Socket, error: unknown): void {
    socket.destroy();
    this.#count('request');
    this.#log.error({ err: error }, 'an error escaped a request: its connection is closed');
  }

  /**
   * Handles all uncaught errors. An error outside of any request may leave the process in an unknown state, so `stop` must
   * then shut it down in order, for a restart.
   */
  watch(stop: () => void): void {
    process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
      const socket = client.getStore();
      if (socket) return this.drop(socket, error);
      if (GONE.has(error?.code ?? '')) {
        this.#count('connection');
        this.#log.error({ err: error }, 'a connection ended with an unhandled error');
        return;
      }
      this.#count('process');
      this.#log.fatal({ err: error }, 'unhandled error: the process stops and must be restarted');
      stop();
    });
  }
}
