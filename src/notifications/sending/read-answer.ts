import type { IncomingMessage } from 'node:http';
import { cleanText } from '../../platform/text/clean-text.ts';
import { LIMITS } from './send-limits.ts';

/**
 * Reads an answer's body and returns what is kept of it: at most 4 kB or `most` bytes, cut at a character, without control characters.
 * Stops after 64 kB, after 2 s, or when the connection ends: the status is known, so nothing here is a failure.
 */
export async function readAnswer(answer: IncomingMessage, most = LIMITS.keptBytes): Promise<string> {
  const kept: Buffer[] = [];
  let read = 0;
  const timer = setTimeout(() => answer.destroy(), LIMITS.bodyMs);
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (read < most) kept.push(Buffer.from(chunk.subarray(0, most - read)));
      read += chunk.length;
      if (read > LIMITS.readBytes) break; // destroys the connection
    }
  } catch {
    // cut off, or not HTTP
  } finally {
    clearTimeout(timer);
  }
  const { 'content-encoding': encoding } = answer.headers;
  // Never decompressed: a few bytes could become gigabytes.
  if (encoding !== undefined && encoding !== 'identity') return cleanText(`(compressed: ${encoding})`, 100);
  return keptText(Buffer.concat(kept), most);
}

/** Text of untrusted bytes: at most 4 kB or `most` bytes in UTF-8, in one line. */
export function keptText(bytes: Buffer, most = LIMITS.keptBytes): string {
  const text = cleanText(new TextDecoder().decode(bytes, { stream: true }), most);
  // A wrong byte becomes three.
  const room = Buffer.alloc(most);
  return room.toString('utf8', 0, new TextEncoder().encodeInto(text, room).written);
}

/** The seconds that `Retry-After` asks for, at most a day; null = none. */
export function retryAfterOf(header: string | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const seconds = /^[0-9]{1,9}$/.test(header)
    ? Number(header)
    : Math.ceil((Date.parse(header) - now) / 1_000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), LIMITS.retryAfterSeconds);
}
