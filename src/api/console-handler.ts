import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from '../http/edge/edge.ts';

/** Handles a request of the console or of a collector, and sends the answer. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

// This header carries what the edge knows about the request. A client's own header of this name is always overwritten.
const FACTS = 'dbvitals-caller';

/** The caller as the edge sees it. Only the edge knows which proxies are trusted. */
interface Facts {
  requestId: string;
  address: string;
  origin: string;
}

/** Finds the handler of a routed URL that neither the API nor a page answers; null = there is none. */
export type HandlerOf = (routed: string) => Handler | null;

/** Whether the console's handler serves a routed URL: below its API, even if the path is unknown, or a heartbeat. */
export function isConsole(routed: string): boolean {
  return /^\/(?:console\/api|heartbeat)(?:[/?]|$)/.test(routed);
}

/** Whether a routed URL is below the paths of collectors, even if it is unknown. */
export function isCollector(routed: string): boolean {
  return /^\/collector(?:[/?]|$)/.test(routed);
}

/** Passes a request on to its handler. */
export function handOver(request: FastifyRequest, reply: FastifyReply, to: Handler): void {
  const facts: Facts = {
    requestId: request.id,
    address: plainAddress(request.ip),
    origin: `${request.protocol}://${request.host}`,
  };
  request.raw.headers[FACTS] = JSON.stringify(facts);
  reply.hijack();
  to(request.raw, reply.raw);
}

/** Reads the caller's facts that {@link handOver} attached. */
export function callerFactsOf(request: IncomingMessage): Facts {
  return JSON.parse(String(request.headers[FACTS]));
}
