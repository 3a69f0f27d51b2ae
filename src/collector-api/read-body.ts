import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Rejection } from '../platform/rejection.ts';

const unzip = promisify(gunzip);

/** The client went away before its request was complete: nobody reads an answer. */
export class BodyBroken extends Error {}

const tooLarge = (bytes: number) =>
  new Rejection('body_too_large', `Send ${bytes / 1024} KiB at most, before and after compression.`);
const notJson = new Rejection('bad_request', 'Send one JSON object, plain or compressed with gzip.');

/**
 * Reads a body as it was sent, of at most `bytes`. A slow one is bounded by the server's time for a request. Throws a
 * {@link Rejection}, after which the connection must be closed, or {@link BodyBroken}.
 */
export function readBody(request: IncomingMessage, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(new BodyBroken()); // it tells no listener that comes now
    if (Number(request.headers['content-length']) > bytes) return reject(tooLarge(bytes));
    const chunks: Buffer[] = [];
    let received = 0;
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received <= bytes) chunks.push(chunk);
      else reject(tooLarge(bytes));
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', () => reject(new BodyBroken()));
    request.once('close', () => reject(new BodyBroken()));
  });
}

/** Parses a body, unpacked to at most `bytes`. Throws a {@link Rejection}. */
export async function parseBody(
  body: Buffer,
  { 'content-encoding': coding = 'identity' }: IncomingMessage['headers'],
  bytes: number,
): Promise<unknown> {
  const plain = coding === 'gzip' ? await unpack(body, bytes) : body;
  if (coding !== 'gzip' && coding !== 'identity') throw notJson;
  try {
    return JSON.parse(plain.toString());
  } catch {
    throw notJson;
  }
}

async function unpack(body: Buffer, bytes: number): Promise<Buffer> {
  try {
    return await unzip(body, { maxOutputLength: bytes });
  } catch (error) {
    const isLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isLarge ? tooLarge(bytes) : notJson;
  }
}
