import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Streamed } from './route.ts';

/** Sends a route's stream until it ends or the client leaves. */
export function sendStream(
  { socket }: FastifyRequest,
  reply: FastifyReply,
  { type, filename, stream: body }: Streamed,
): FastifyReply {
  // A client that closes its sending side gets its answers, but nobody waits for an endless one.
  const end = () => body.destroy();
  socket.once('end', end);
  body.once('close', () => socket.off('end', end));
  if (filename !== null) reply.header('content-disposition', `attachment; filename="${filename}"`);
  // Tells proxies not to buffer, which would delay live data.
  return reply.header('x-accel-buffering', 'no').type(type).send(body);
}
