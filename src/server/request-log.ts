import type { Logger } from 'pino';
import type { ApiRequest } from '../http/api-request.ts';
import type { BrokenAnswer } from '../http/edge/answer-broken-request.ts';
import { pagePath, plainAddress } from '../http/edge/edge.ts';

// Enough to see what clients request. Without a limit a flood would write 13,000 lines a second.
const LINES_A_SECOND = 10;

/** What a request's line contains besides the request itself. */
interface Answered {
  status: number;
  ms: number;
  /** undefined = the request has no valid key. */
  keyId: number | undefined;
}

/**
 * Logs a line for each answer. Of 401, 429 and other answers without a key below 500, it logs ten lines a second per status,
 * then one line that counts the rest. It logs every 5xx.
 */
export class RequestLog {
  readonly #log: Logger;
  readonly #enabled: boolean;
  /** Lines of this second by status, including those left out. */
  readonly #sampled = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
    this.#enabled = log.isLevelEnabled('info');
  }

  answered(request: ApiRequest, { status, ms, keyId }: Answered): void {
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

  /** Logs the answer to a malformed request. */
  broken({ id, status, address }: BrokenAnswer): void {
    if (!this.#enabled || this.#count(status) > LINES_A_SECOND) return;
    this.#log.info({ request_id: id, status, source_ip: plainAddress(address) }, 'malformed request');
  }

  /** Logs how many lines were left out so far. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [status, lines] of this.#sampled) {
      if (lines > LINES_A_SECOND) {
        this.#log.info({ status, left_out: lines - LINES_A_SECOND }, 'more answers than the log shows');
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
