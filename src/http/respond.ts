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

/** Sends an answer with the headers that every response carries. */
export async function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  budget: Budget,
  extra: Record<string, string> = {},
): Promise<void> {
  const headers: Record<string, string> = { ...rateHeaders(budget), ...extra };
  if (answer.link !== null) headers['link'] = answer.link;
  const status = finalStatus(request, answer);
  const coding = status === 200 ? acceptedCoding(request, answer) : null;
  if (answer.tag === null) {
    headers['cache-control'] = 'no-store';
  } else {
    headers['cache-control'] = 'private, no-cache';
    headers['etag'] = `"${answer.tag}${coding ? `-${coding}` : ''}"`;
  }
  reply.code(status).headers(headers);
  if (status === 304) {
    reply.send();
    return;
  }
  if (coding) reply.header('content-encoding', coding);
  const body = coding ? await encoded(answer, coding) : answer.body;
  reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('content-length', body.length)
    .send(body);
}

function acceptedCoding(request: FastifyRequest, answer: Answer): Coding | null {
  const accepted = request.headers['accept-encoding'];
  if (accepted === undefined || answer.body.length < SMALLEST_CODED) return null;
  const [best] = new Negotiator(request).encodings(['br', 'gzip', 'identity']);
  return best === 'br' || best === 'gzip' ? best : null;
}

/** Headers of the answer to a CORS preflight from an allowed origin. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': 'Authorization, If-None-Match',
  'access-control-max-age': '600',
};

/** Headers for a page of an allowed origin; `origins` empty = off. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): Record<string, string> {
  if (origins.length === 0) return { vary: 'Authorization, Accept-Encoding' };
  const vary = { vary: 'Authorization, Accept-Encoding, Origin' };
  if (origin === undefined || !origins.includes(origin)) return vary;
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}
