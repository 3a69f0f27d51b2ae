import type { Logger } from 'pino';
import type { ApiRequest } from '../../http/api-request.ts';
import type { BrokenAnswer } from '../../http/edge/answer-broken-request.ts';
import { pagePath, plainAddress } from '../../http/edge/edge.ts';
import { rounded } from './request-steps.ts';

// Enough to see what clients request. Without a limit a flood would write 13,000 lines a second.
const LINES_A_SECOND = 10;

/** What a request's line contains besides the request itself. */
interface Answered {
  status: number;
  ms: number;
  /** undefined = the request has no valid key. */
  keyId: number | undefined;
}

/** The line of an answer of the console. */
interface ConsoleLine {
  request_id: string;
  method: string;
  /** The route, because the path of a link contains its token. */
  path: string;
  status: number;
  ms: number;
}

/** What refuses a request: anyone can cause it, as often as they like. */
const REFUSALS = new Set([401, 403, 404, 429]);

/**
 * Writes the lines about answers, of the API and of the console. Of 401, 403, 404, 429 and other answers below 500 without a
 * valid key or session, it writes ten lines a second per status, then one line that counts the rest. It writes every 5xx.
 */
export class RequestLog {
  readonly #log: Pick<Logger, 'info' | 'warn'>;
  readonly #enabled: boolean;
  /** Lines of this second by status, or by message, including those left out. */
  readonly #sampled = new Map<number | string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Logger, 'info' | 'warn' | 'isLevelEnabled'>) {
    this.#log = log;
    this.#enabled = log.isLevelEnabled('info');
  }

  /** Logs an answer of the API. */
  answered(request: ApiRequest, { status, ms, keyId }: Answered): void {
    if (!this.#isWritten(status, keyId !== undefined)) return;
    this.#log.info({
      request_id: request.id,
      method: request.method,
      path: pagePath(request.url),
      status,
      ms: rounded(ms),
      key_id: keyId,
      source_ip: plainAddress(request.ip),
    });
  }

  /** Logs an answer of the console; `isMember` is whether the request has a valid session. */
  consoleAnswered(line: ConsoleLine, isMember: boolean): void {
    if (this.#isWritten(line.status, isMember)) this.#log.info({ ...line, ms: rounded(line.ms) });
  }

  /** Logs the answer to a malformed request. */
  broken({ id, status, address }: BrokenAnswer): void {
    if (!this.#isWritten(status, false)) return;
    this.#log.info({ request_id: id, status, source_ip: plainAddress(address) }, 'malformed request');
  }

  /** Logs a failure that anyone can cause, as often as they like. */
  failed(fields: object, message: string): void {
    if (this.#isAmongFirst(message)) this.#log.warn(fields, message);
  }

  /** Logs how many lines were left out so far. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [kind, lines] of this.#sampled) {
      const left_out = lines - LINES_A_SECOND;
      if (left_out <= 0) continue;
      if (typeof kind === 'number')
        this.#log.info({ status: kind, left_out }, 'more answers than the log shows');
      else this.#log.warn({ failure: kind, left_out }, 'more failures than the log shows');
    }
    this.#sampled.clear();
  }

  /** Whether the line of an answer is written. Counts those that are sampled. `isKnown` is whether it has a valid key or session. */
  #isWritten(status: number, isKnown: boolean): boolean {
    if (!this.#enabled) return false;
    return status >= 500 || (isKnown && !REFUSALS.has(status)) || this.#isAmongFirst(status);
  }

  #isAmongFirst(kind: number | string): boolean {
    this.#timer ??= setTimeout(() => this.flush(), 1_000).unref();
    const lines = (this.#sampled.get(kind) ?? 0) + 1;
    this.#sampled.set(kind, lines);
    return lines <= LINES_A_SECOND;
  }
}
