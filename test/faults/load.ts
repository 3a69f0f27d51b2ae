import http from 'node:http';
import https from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';

/** A complete answer. */
export interface Answer {
  id: string;
  status: number;
  /** When the request was sent, and how long the answer took, in milliseconds of this process's clock. */
  started: number;
  ms: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** The results of a load. */
export interface Load {
  answers: Answer[];
  /** Requests whose connection ended without an answer; their outcome is unknown. */
  broken: number;
  /** Answers that are not allowed: neither 200 nor a 500 in the envelope with limit headers. */
  odd: string[];
  stop(): Promise<void>;
}

// The client's timeout, far beyond the service's two seconds.
const PATIENCE_MS = 20_000;

export const FLEET = '/api/v1/health/fleet';
const PATHS = [FLEET, '/api/v1/ops/tickets?per_page=5', '/api/v1/activity?per_page=2', '/api/v1/team/roles'];

/** The size of the load. */
export interface LoadOptions {
  /** Concurrent requests. */
  width?: number;
  /** The pause of each loop after an answer. */
  pauseMs?: number;
  paths?: string[];
}

/**
 * Sends `width` concurrent requests until stopped, with a pause of `pauseMs` after each answer. `origin` returns the
 * current service for a loop's number.
 */
export function startLoad(
  key: string,
  origin: (loop: number) => string,
  { width = 12, pauseMs = 5, paths = PATHS }: LoadOptions = {},
): Load {
  const agent = new http.Agent({ keepAlive: true, maxSockets: width });
  let going = true;
  const load: Load = {
    answers: [],
    broken: 0,
    odd: [],
    async stop() {
      going = false;
      await Promise.all(loops);
      agent.destroy();
    },
  };
  const loops = Array.from({ length: width }, async (_, loop) => {
    for (let turn = loop; going; turn += 1) {
      try {
        const answer = await get(origin(loop) + (paths[turn % paths.length] ?? FLEET), key, { agent });
        load.answers.push(answer);
        if (!isInOrder(answer)) load.odd.push(`${answer.status} ${answer.text.slice(0, 200)}`);
      } catch {
        load.broken += 1;
        await wait(20);
      }
      if (pauseMs > 0) await wait(pauseMs);
    }
  });
  return load;
}

/** A 200, or an internal_error in the envelope; both with the limit headers. */
function isInOrder({ status, text, headers }: Answer): boolean {
  if (!/^\d+$/.test(`${headers['x-ratelimit-remaining']}`)) return false;
  return status === 200 || (status === 500 && /^\{"error":\{"code":"internal_error","message":"/.test(text));
}

/** One request; rejects when its connection ends first. */
export function get(
  url: string,
  key: string | null,
  { agent, headers = {} }: { agent?: http.Agent | false; headers?: http.OutgoingHttpHeaders } = {},
): Promise<Answer> {
  const started = performance.now();
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    const options = {
      agent: agent ?? false,
      headers: { ...authorization, ...headers },
      timeout: PATIENCE_MS,
    };
    const request = (url.startsWith('https:') ? https : http).get(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.once('error', reject).once('aborted', () => reject(new Error('the answer was cut short')));
      response.once('end', () => {
        const { statusCode: status = 0, headers: told } = response;
        const ms = performance.now() - started;
        resolve({ id: `${told['x-request-id']}`, status, started, ms, headers: told, text });
      });
    });
    request.once('error', reject).once('timeout', () => request.destroy(new Error('no answer')));
  });
}

/** The percentile of the numbers; `part` is from 0 to 1. */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN;
}
