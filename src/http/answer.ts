import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Rejection } from '../platform/rejection.ts';

/** A prepared answer, which is sent if the gate admits the request. */
export interface Answer {
  readonly status: number;
  readonly errorCode: string | null;
  readonly body: Buffer;
  /** The entity tag's text without quotes; null = clients must not store the answer. */
  readonly tag: string | null;
  readonly link: string | null;
  /** The compressed bodies, created on first use. */
  readonly coded: Map<Coding, Promise<Buffer>>;
}

/** The supported content codings. */
export type Coding = 'br' | 'gzip';

/** Creates an answer with a body; `stored` = a client may store and revalidate it. */
export function successAnswer(body: Buffer, link: string | null, stored: boolean): Answer {
  const tag = stored ? hash('sha256', body, 'base64url').slice(0, 27) : null;
  return { status: 200, errorCode: null, body, tag, link, coded: new Map() };
}

/** Creates the answer of an error. */
export function errorAnswer(error: Rejection, retryAfter?: number): Answer {
  const body = error.envelope(retryAfter);
  return {
    status: error.status,
    errorCode: error.code,
    body,
    tag: null,
    link: null,
    coded: new Map(),
  };
}

/** Creates the answer to a message of an assistant; `body` is JSON, or empty. */
export function messageAnswer(status: number, body: string): Answer {
  const errorCode = status < 400 ? null : 'bad_request';
  return { status, errorCode, body: Buffer.from(body), tag: null, link: null, coded: new Map() };
}

/** Whether `If-None-Match` contains the answer's entity tag, in any coding (RFC 9110, 13.1.2). */
export function isUnchanged(answer: Answer, ifNoneMatch: string | undefined): boolean {
  if (answer.tag === null || ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return [...ifNoneMatch.matchAll(/"([^"]*)"/g)].some(
    ([, tag]) => tag?.replace(/-(?:br|gzip)$/, '') === answer.tag,
  );
}

/** Returns the answer's body in a coding. A cached answer is compressed only once. */
export function encoded(answer: Answer, coding: Coding): Promise<Buffer> {
  let body = answer.coded.get(coding);
  if (!body) {
    body = compress[coding](answer.body);
    answer.coded.set(coding, body);
  }
  return body;
}

const compress = {
  gzip: (body: Buffer) => promisify(gzip)(body),
  // Quality 5 of 11: a higher one takes twice the time to save a few percent.
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
};
