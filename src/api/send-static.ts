import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, encoded, isUnchanged } from '../http/answer.ts';
import { acceptedCoding } from '../http/respond.ts';

/** The headers of a static answer. */
interface StaticHeaders {
  type: string;
  caching: string;
  /** The content security policy. */
  policy: string;
}

/**
 * An answer of more bytes closes its connection. The kernel buffers answers that a client requests but does not read: with
 * four documents for each of 1,000 connections it buffered a gigabyte, and all clients waited for seconds.
 */
export const LARGE = 32_768;

/** Sends a static answer, encoded as the client accepts, or 304 where the client has it. */
export async function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  { type, caching, policy }: StaticHeaders,
) {
  // A font is compressed already.
  const coding = type.startsWith('font/') ? null : acceptedCoding(request, answer);
  reply.headers({ 'cache-control': caching, 'content-security-policy': policy });
  if (reply.statusCode === 200) {
    reply.header('etag', `"${answer.tag}${coding ? `-${coding}` : ''}"`);
    if (isUnchanged(answer, request.headers['if-none-match'])) return reply.code(304).send();
  }
  if (coding) reply.header('content-encoding', coding);
  const body = coding ? await encoded(answer, coding) : answer.body;
  reply.header('content-type', type).header('content-length', body.length);
  if (body.length > LARGE) reply.header('connection', 'close');
  return reply.send(request.method === 'HEAD' ? null : body);
}
