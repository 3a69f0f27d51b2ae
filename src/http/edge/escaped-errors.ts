import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server, Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { ESCAPES } from '../../telemetry/metrics.ts';

/** Hears of every error that escaped. */
export type CountEscape = (from: (typeof ESCAPES)[number]) => void;

// Of whose connection the work under way is a part, whatever it waits for.
const client = new AsyncLocalStorage<Socket>();

/** The other end has gone: the program is as it was. */
const GONE = new Set([
  ...['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT', 'ENOTCONN'],
  ...['ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_WRITE_AFTER_END'],
]);

/**
 * Keeps errors that escape a request from ending the process: the request's connection is closed, the error logged and
 * counted (docs/decisions/0044).
 */
export class EscapedErrors {
  readonly #log: FastifyBaseLogger;
  readonly #count: CountEscape;

  constructor(log: FastifyBaseLogger, count: CountEscape) {
    this.#log = log;
    this.#count = count;
  }

  /** Knows from now on what the requests of a server start, however late it fails. Called before its first connection. */
  follow(server: Server): void {
    // Before Node's own listener: all that its parser calls later has the context of this moment.
    const enter = (socket: Socket) => client.enterWith(socket);
    server.prependListener('connection', enter).prependListener('secureConnection', enter);
  }

  /** Does `work` for a client. Never throws. */
  readonly guard = (socket: Socket, work: () => void): void => {
    try {
      work();
    } catch (error) {
      this.drop(socket, error);
    }
  };

  /** Closes the connection of a request that an error escaped from. */
  drop(socket: Socket, error: unknown): void {
    socket.destroy();
    this.#count('request');
    this.#log.error({ err: error }, 'an error escaped a request: its connection is closed');
  }

  /**
   * Hears of all that nobody caught. An error of no request may have left the process in a state that nobody knows: `stop`
   * is then to end it in good order, so that it is started anew.
   */
  watch(stop: () => void): void {
    process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
      const socket = client.getStore();
      if (socket) return this.drop(socket, error);
      if (GONE.has(error?.code ?? '')) {
        this.#count('connection');
        this.#log.error({ err: error }, 'a connection ended with an error that nobody awaited');
        return;
      }
      this.#count('process');
      this.#log.fatal({ err: error }, 'an error that nobody caught: the process stops, to be started anew');
      stop();
    });
  }
}

/** Does work that serves all clients, and not only the one that caused it to begin. */
export function forEverybody<T>(work: () => T): T {
  return client.exit(work);
}
