import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export const JSON_TYPE = 'application/json; charset=utf-8';

const compress = promisify(gzip);

/** A larger answer is compressed: what a run compares with can be half a megabyte. */
const SMALL = 1_000;

/** Sends an answer, compressed if the client takes that. */
export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  answer: object,
): Promise<void> {
  const plain = Buffer.from(JSON.stringify(answer));
  const accepts = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const isPacked = accepts && plain.length > SMALL;
  const body = isPacked ? await compress(plain) : plain;
  response.writeHead(200, {
    'content-type': JSON_TYPE,
    'content-length': body.length,
    ...(isPacked && { 'content-encoding': 'gzip' }),
  });
  response.end(body);
}
