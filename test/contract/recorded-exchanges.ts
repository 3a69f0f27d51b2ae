import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Question } from './ask.ts';

/** A request of the suite and its answer, as they went over the wire. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  /** By lower-case name. */
  requestHeaders: Record<string, string>;
  status: number;
  headers: Record<string, string>;
  /** Base64. */
  body: string;
}

const folder = process.env['DBVITALS_TEST_EXCHANGES'];

/** Appends to a file of this process in the folder that the environment names, for who judges the answers later. */
export function recordExchange(path: string, question: Question, answer: Answer): void {
  if (folder === undefined) return;
  const exchange: Exchange = {
    method: question.method ?? 'GET',
    path,
    requestHeaders: {
      ...(question.key === undefined ? {} : { authorization: `Bearer ${question.key}` }),
      ...Object.fromEntries(
        Object.entries(question.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
      ),
    },
    status: answer.status,
    headers: answer.headers,
    body: answer.bytes.toString('base64'),
  };
  appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(exchange)}\n`);
}
