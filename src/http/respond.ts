import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { type Answer, type Coding, encoded, isUnchanged } from './answer.ts';
import { type Budget, rateHeaders } from './rate-headers.ts';

/** Bodies below it are sent as they are, in bytes: compressed, they would hardly be smaller. */
const SMALLEST_CODED = 1024;

const EXPOSED = [
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy'],
  ...['Link', 'ETag', 'Retry-After', 'X-Request-Id'],
].join(', ');

/** The status that the answer will be sent with: 304 when the client has it already. */
export function finalStatus(request: FastifyRequest, answer: Answer): number {
  return isUnchanged(answer, request.headers['if-none-match']) ? 304 : answer.status;
}

/**
 * Sends an answer with the headers that every response carries; `extra` are more of them, names and values in turn.
 * It goes past Fastify's reply, whose own way of collecting headers costs as much as all of Node's. A promise only
 * where the body must be compressed first.
 */
export function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  budget: Budget,
  extra: readonly string[],
): Promise<void> | void {
  const status = finalStatus(request, answer);
  // A 304 carries the tag that its 200 would (RFC 9110, 15.4.5).
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
    // Fastify's wish while it closes.
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

/** The content coding to send the answer in; null for none. */
export function acceptedCoding(request: FastifyRequest, answer: Answer): Coding | null {
  const accepted = request.headers['accept-encoding'];
  if (accepted === undefined || answer.body.length < SMALLEST_CODED) return null;
  const [best] = new Negotiator(request).encodings(['br', 'gzip', 'identity']);
  return best === 'br' || best === 'gzip' ? best : null;
}

/** Headers of the answer to a CORS preflight from an allowed origin, names and values in turn. */
export const PREFLIGHT_HEADERS = [
  ...['access-control-allow-methods', 'GET, HEAD'],
  ...['access-control-allow-headers', 'Authorization, If-None-Match'],
  ...['access-control-max-age', '600'],
];

const VARY = ['vary', 'Authorization, Accept-Encoding'];
const VARY_WITH_ORIGIN = ['vary', 'Authorization, Accept-Encoding, Origin'];

/** Headers for a page of an allowed origin, names and values in turn; `origins` empty = off. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): readonly string[] {
  if (origins.length === 0) return VARY;
  if (origin === undefined || !origins.includes(origin)) return VARY_WITH_ORIGIN;
  const allowed = ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED];
  return [...VARY_WITH_ORIGIN, ...allowed];
}
