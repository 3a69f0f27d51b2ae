import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { type Answer, type Coding, encoded, isUnchanged } from './answer.ts';
import { type Budget, rateHeaders } from './rate-headers.ts';

/** Smaller bodies, in bytes, are sent uncompressed: compression would hardly shrink them. */
const SMALLEST_CODED = 1024;

const EXPOSED = [
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy'],
  ...['Link', 'ETag', 'Retry-After', 'X-Request-Id'],
].join(', ');

/** Returns the status to send: 304 if the client already has the answer. */
export function finalStatus(request: FastifyRequest, answer: Answer): number {
  return isUnchanged(answer, request.headers['if-none-match']) ? 304 : answer.status;
}

/**
 * Sends an answer with the headers of every response; `extra` are more headers, names and values alternating. It bypasses
 * Fastify's reply, because its collecting of headers costs as much as all of Node's work. Returns a promise only if the
 * body must be compressed first.
 */
export function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  budget: Budget,
  extra: readonly string[],
): Promise<void> | void {
  const status = finalStatus(request, answer);
  // A 304 has the entity tag of its 200 (RFC 9110, 15.4.5).
  const coding = answer.status === 200 ? acceptedCoding(request, answer) : null;
  const send = (body: Buffer) => {
    if (reply.raw.headersSent) return; // the deadline came first
    const headers = ['x-request-id', request.id, 'x-content-type-options', 'nosniff', ...extra];
    headers.push(...rateHeaders(budget));
    if (answer.link !== null) headers.push('link', answer.link);
    if (answer.tag === null) {
      headers.push('cache-control', 'no-store');
    } else {
      const tag = `"${answer.tag}${coding ? `-${coding}` : ''}"`;
      headers.push('cache-control', 'private, no-cache', 'etag', tag);
    }
    // Fastify sets this header while it shuts down.
    if (reply.hasHeader('connection')) headers.push('connection', 'close');
    if (status === 304) {
      reply.raw.writeHead(status, headers).end();
      return;
    }
    if (coding) headers.push('content-encoding', coding);
    headers.push('content-type', 'application/json; charset=utf-8', 'content-length', `${body.length}`);
    reply.raw.writeHead(status, headers).end(body);
  };
  return coding && status === 200 ? encoded(answer, coding).then(send) : send(answer.body);
}

/** The content coding for the answer; null = uncompressed. */
export function acceptedCoding(request: FastifyRequest, answer: Answer): Coding | null {
  const accepted = request.headers['accept-encoding'];
  if (accepted === undefined || answer.body.length < SMALLEST_CODED) return null;
  const [best] = new Negotiator(request).encodings(['br', 'gzip', 'identity']);
  return best === 'br' || best === 'gzip' ? best : null;
}

/** Headers of the answer to a CORS preflight from an allowed origin, names and values alternating. */
export const PREFLIGHT_HEADERS = [
  ...['access-control-allow-methods', 'GET, HEAD'],
  ...['access-control-allow-headers', 'Authorization, If-None-Match'],
  ...['access-control-max-age', '600'],
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
