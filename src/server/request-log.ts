import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { pagePath, plainAddress } from '../http/edge/edge.ts';

// Enough to see what is asked; a flood would else write 13,000 lines a second.
const LINES_A_SECOND = 10;

/** What a request's line tells beside the request itself. */
interface Answered {
  status: number;
  ms: number;
  /** undefined = no key stands behind the request. */
  keyId: number | undefined;
}

/**
 * Logs a line for each answer. Of 401, 429, and what else needs no key to be had, ten lines a second of each status, then one that
 * counts the rest. A 5xx is never left out.
 */
export class RequestLog {
  readonly #log: Logger;
  readonly #enabled: boolean;
  /** Lines of this second by status, those left out too. */
  readonly #sampled = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
    this.#enabled = log.isLevelEnabled('info');
  }

  answered(request: FastifyRequest, { status, ms, keyId }: Answered): void {
    if (!this.#enabled) return;
    const isSampled = status < 500 && (keyId === undefined || status === 401 || status === 429);
    if (isSampled && this.#count(status) > LINES_A_SECOND) return;
    this.#log.info({
      request_id: request.id,
      method: request.method,
      path: pagePath(request.url),
      status,
      ms: Math.round(ms * 100) / 100,
      key_id: keyId,
      source_ip: plainAddress(request.ip),
    });
  }

  /** Tells at once what was left out. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [status, lines] of this.#sampled) {
      if (lines > LINES_A_SECOND) {
        this.#log.info({ status, left_out: lines - LINES_A_SECOND }, 'more answers than are logged');
      }
    }
    this.#sampled.clear();
  }

  #count(status: number): number {
    this.#timer ??= setTimeout(() => this.flush(), 1_000).unref();
    const lines = (this.#sampled.get(status) ?? 0) + 1;
    this.#sampled.set(status, lines);
    return lines;
  }
}
