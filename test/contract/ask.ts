import http from 'node:http';
import { inject } from 'vitest';
import { expectContract } from './every-answer.ts';
import { recordExchange } from './recorded-exchanges.ts';

/** A whole response. */
export interface Answer {
  status: number;
  /** By lower-case name; a repeated header's values are joined by commas. */
  headers: Record<string, string>;
  bytes: Buffer;
  text: string;
  json<T>(): T;
}

export interface Question {
  key?: string | undefined;
  method?: string;
  headers?: Record<string, string | string[]>;
  /** Another service than the run's. */
  origin?: string;
  body?: string | Buffer;
  /** A connection of its own, closed afterwards. */
  alone?: boolean;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

/** Asks the service and holds the answer to what every answer owes. */
export async function ask(path: string, question: Question = {}): Promise<Answer> {
  const answer = await send(path, question);
  recordExchange(path, question, answer);
  expectContract(question.method ?? 'GET', path, answer);
  return answer;
}

/** The body of an answer that must be 200. */
export async function read<T>(path: string, key: string, question: Question = {}): Promise<T> {
  const answer = await ask(path, { ...question, key });
  if (answer.status !== 200) throw new Error(`GET ${path} gave ${answer.status}: ${answer.text}`);
  return answer.json<T>();
}

function send(path: string, question: Question): Promise<Answer> {
  const { hostname, port } = new URL(question.origin ?? inject('origin'));
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        hostname,
        port,
        path,
        method: question.method ?? 'GET',
        agent: question.alone ? false : agent,
        headers: {
          ...(question.key === undefined ? {} : { authorization: `Bearer ${question.key}` }),
          // Without it Node sends the body of a GET as if it were the next request.
          ...(question.body === undefined
            ? {}
            : { 'content-length': String(Buffer.byteLength(question.body)) }),
          ...question.headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('aborted', () => reject(new Error('the response was cut short')));
        response.once('end', () => {
          resolve(toAnswer(response.statusCode ?? 0, response.rawHeaders, Buffer.concat(chunks)));
        });
      },
    );
    request.once('error', reject);
    request.end(question.body);
  });
}

/** An answer of its parts; `rawHeaders` are names and values by turns. */
export function toAnswer(status: number, rawHeaders: string[], bytes: Buffer): Answer {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const value = rawHeaders[at + 1] ?? '';
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  const text = bytes.toString('utf8');
  return { status, headers, bytes, text, json: () => JSON.parse(text) };
}

/** The relations of an answer's `Link` header; each URL must be absolute. Values are path and query. */
export function links(answer: Answer): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, target = '', relation = ''] of (answer.headers['link'] ?? '').matchAll(
    /<(https?:\/\/[^>]+)>; *rel="?([a-z]+)"?/g,
  )) {
    const url = new URL(target);
    found[relation] = url.pathname + url.search;
  }
  return found;
}

/** Runs `work` on each item, at most `width` at a time; results in order. */
export async function each<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const [at, item] of queue) results[at] = await work(item);
    }),
  );
  return results;
}
