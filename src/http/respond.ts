import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import { type Answer, type Coding, encoded, isUnchanged } from './answer.ts';
import type { ApiRequest } from './api-request.ts';
import { type Budget, rateHeaders } from './rate-headers.ts';

/** Smaller bodies, in bytes, are sent uncompressed: compression would hardly shrink them. */
const SMALLEST_CODED = 1024;

const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Link',
  'ETag',
  'Retry-After',
  'X-Request-Id',
].join(', ');

/** Returns the status to send: 304 if the client already has the answer. */
export function finalStatus(request: ApiRequest, answer: Answer): number {
  return isUnchanged(answer, request.headers['if-none-match']) ? 304 : answer.status;
}

/**
 * Sends an answer with the headers of every response; `extra` are more headers, names and values alternating. Returns a
 * promise only if the body must be compressed first.
 */
export function respond(
  request: ApiRequest,
  answer: Answer,
  budget: Budget,
  extra: readonly string[],
): Promise<void> | void {
  const status = finalStatus(request, answer);
  // A 304 has the entity tag of its 200 (RFC 9110, 15.4.5).
  const coding = answer.status === 200 ? acceptedCoding(request, answer) : null;
  if (coding && status === 200) {
    return encoded(answer, coding).then((body) =>
      send(request, answer, budget, extra, { status, coding, body }),
    );
  }
  send(request, answer, budget, extra, { status, coding, body: answer.body });
}

function send(
  { id, response }: ApiRequest,
  answer: Answer,
  budget: Budget,
  extra: readonly string[],
  { status, coding, body }: { status: number; coding: Coding | null; body: Buffer },
): void {
  if (response.headersSent) return; // the deadline came first
  const headers = ['x-request-id', id, ...ALWAYS, ...extra, ...rateHeaders(budget)];
  headers.push(...ownHeaders(answer, coding));
  if (response.hasHeader('connection')) headers.push('connection', 'close');
  if (status === 304) {
    response.writeHead(status, headers).end();
    return;
  }
  headers.push(...bodyHeaders(coding, body));
  response.writeHead(status, headers).end(body);
}

const ALWAYS = ['x-content-type-options', 'nosniff'];

/** The headers that the answer itself determines. */
function ownHeaders(answer: Answer, coding: Coding | null): string[] {
  const link = answer.link === null ? [] : ['link', answer.link];
  if (answer.tag === null) return [...link, 'cache-control', 'no-store'];
  const tag = `"${answer.tag}${coding ? `-${coding}` : ''}"`;
  return [...link, 'cache-control', 'private, no-cache', 'etag', tag];
}

function bodyHeaders(coding: Coding | null, body: Buffer): string[] {
  const encoding = coding ? ['content-encoding', coding] : [];
  return [...encoding, 'content-type', 'application/json; charset=utf-8', 'content-length', `${body.length}`];
}

/** The content coding for the answer; null = uncompressed. */
export function acceptedCoding(request: { headers: IncomingHttpHeaders }, answer: Answer): Coding | null {
  const accepted = request.headers['accept-encoding'];
  if (accepted === undefined || answer.body.length < SMALLEST_CODED) return null;
  const [best] = new Negotiator(request).encodings(['br', 'gzip', 'identity']);
  return best === 'br' || best === 'gzip' ? best : null;
}

/** Headers of the answer to a CORS preflight from an allowed origin, names and values alternating. */
export const PREFLIGHT_HEADERS = [
  'access-control-allow-methods',
  'GET, HEAD',
  'access-control-allow-headers',
  'Authorization, If-None-Match',
  'access-control-max-age',
  '600',
];

/** {@link PREFLIGHT_HEADERS} of messages of assistants. */
export const MESSAGE_PREFLIGHT_HEADERS = [
  'access-control-allow-methods',
  'POST',
  'access-control-allow-headers',
  'Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
  'access-control-max-age',
  '600',
];

const VARY = ['vary', 'Authorization, Accept-Encoding'];
const VARY_WITH_ORIGIN = ['vary', 'Authorization, Accept-Encoding, Origin'];

/** CORS headers for a page of an allowed origin, names and values alternating; `origins` empty = CORS is off. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): readonly string[] {
  if (origins.length === 0) return VARY;
  if (origin === undefined || !origins.includes(origin)) return VARY_WITH_ORIGIN;
  const allowed = ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED];
  return [...VARY_WITH_ORIGIN, ...allowed];
}
