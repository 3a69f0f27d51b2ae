import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from '../http/edge/edge.ts';

/** Takes a request to the console's API over, its answer too. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

// What whoever let the request in knows of it. A stranger's own header of this name is always written over.
const FACTS = 'dbvitals-caller';

/** Who asks, as the edge saw it: which proxies are trusted is its business alone. */
interface Facts {
  requestId: string;
  address: string;
  origin: string;
}

/** Whether a routed URL belongs to the console's API, known path or not. */
export function isConsole(routed: string): boolean {
  return /^\/console\/api(?:[/?]|$)/.test(routed);
}

/** Hands a request of the edge to who answers the console's. */
export function handToConsole(request: FastifyRequest, reply: FastifyReply, to: Handler): void {
  const facts: Facts = {
    requestId: request.id,
    address: plainAddress(request.ip),
    origin: `${request.protocol}://${request.host}`,
  };
  request.raw.headers[FACTS] = JSON.stringify(facts);
  reply.hijack();
  to(request.raw, reply.raw);
}

/** What {@link handToConsole} told of a request. */
export function callerFactsOf(request: IncomingMessage): Facts {
  return JSON.parse(String(request.headers[FACTS]));
}
