import type { ServerResponse } from 'node:http';

// A smaller body, in bytes, is sent with its head as one text, which costs less than a second piece. A larger one costs more.
const SMALL = 1024;

/**
 * Sends status 200, a head and a body. `lines` are headers as HTTP writes them, each with its line end; they must be safe to
 * write. Node adds the same last lines to every answer. Node's `writeHead` would check and join each header of each answer,
 * although all but a few are the same as in the last answer: 3 µs and 3.7 kB more (docs/decisions/0086).
 *
 * Returns false if Node must write the head itself, because it differs from that of a plain GET over a kept connection.
 */
export function sendWhole(response: ServerResponse, lines: string, body: Buffer): boolean {
  const open = response as ServerResponse & { _header: string | null; _keepAliveTimeout: number };
  const { req } = response;
  const isPlain =
    req.method === 'GET' &&
    req.httpVersionMinor === 1 &&
    response.shouldKeepAlive &&
    response.getHeaderNames().length === 0;
  if (!isPlain) return false;
  const seconds = Math.floor(open._keepAliveTimeout / 1000);
  open._header = `HTTP/1.1 200 OK\r\n${lines}Date: ${date()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`;
  if (body.length < SMALL) response.end(body.toString('latin1'), 'latin1');
  else response.end(body);
  return true;
}

let now: string | null = null;

/** The time in the format of HTTP, which has no fractions of a second. */
function date(): string {
  if (now === null) {
    const time = new Date();
    now = time.toUTCString();
    setTimeout(() => {
      now = null;
    }, 1_000 - time.getMilliseconds()).unref();
  }
  return now;
}
