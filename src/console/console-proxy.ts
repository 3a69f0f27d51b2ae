import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from '../http/edge/edge.ts';
import { internalError } from './errors.ts';

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

// Of one connection, so not handed on (RFC 9110, 7.6.1).
const OF_A_CONNECTION = [
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
];

/** Whether a routed URL belongs to the console's API, known path or not. */
export function isConsole(routed: string): boolean {
  return /^\/console\/api(?:[/?]|$)/.test(routed);
}

/** Hands a request of the edge to who answers the console's. */
export function proxyToConsole(request: FastifyRequest, reply: FastifyReply, to: Handler): void {
  const facts: Facts = {
    requestId: request.id,
    address: plainAddress(request.ip),
    origin: `${request.protocol}://${request.host}`,
  };
  request.raw.headers[FACTS] = JSON.stringify(facts);
  reply.hijack();
  to(request.raw, reply.raw);
}

/** What {@link proxyToConsole} told of a request. */
export function callerFactsOf(request: IncomingMessage): Facts {
  return JSON.parse(String(request.headers[FACTS]));
}

/**
 * Hands requests on to the process that listens on a Unix socket: those that answer have no secret, and the console needs
 * one. Whatever fails there is answered 500.
 */
export function forwardTo(socketPath: string): Handler {
  return (request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    const headers = { ...request.headers };
    // Node would send a body in pieces, of no size, where there is none.
    if (headers['transfer-encoding'] === undefined) headers['content-length'] ??= '0';
    for (const name of OF_A_CONNECTION) delete headers[name];
    // Whoever closes after an answer with some of the body unread resets the connection, and the answer is lost: not closed there.
    headers.connection = 'keep-alive';
    const onward = ask({ socketPath, method, path, headers, agent: false });
    let answered = false;
    onward.once('response', (answer) => {
      answered = true;
      const kept = { ...answer.headers };
      for (const name of OF_A_CONNECTION) delete kept[name];
      response.writeHead(answer.statusCode ?? 500, kept);
      answer.once('error', () => response.destroy()).pipe(response);
      // An answer may come before the body has: then nobody there takes the rest.
      request.unpipe(onward).resume();
    });
    onward.on('error', () => {
      if (answered || response.headersSent) return;
      response.writeHead(500, { 'content-type': 'application/json; charset=utf-8' });
      response.end(internalError.envelope());
    });
    // Whoever went away waits for nothing: what runs for it may end.
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  };
}
