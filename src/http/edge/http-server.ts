import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { ConnectionFailure } from '../../telemetry/metrics.ts';
import type { ApiUrl } from '../api-url.ts';
import type { Budget } from '../rate-headers.ts';
import { answerBroken, type BrokenAnswer, failureOf } from './answer-broken-request.ts';
import { limitConnections } from './connection-limits.ts';
import { belowBase, isApi, NODE_HEADER_LIMIT, routedUrl } from './edge.ts';
import type { EscapedErrors } from './escaped-errors.ts';
import { limitPipelining } from './pipelining.ts';
import type { Tls } from './tls.ts';

/** Times in milliseconds after which a slow or idle client is disconnected. Node checks for slow ones at the interval. */
const HEADERS_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 12_000;
const CHECKING_INTERVAL = 1_000;
const KEEP_ALIVE_TIMEOUT = 72_000;
// A client without complete headers has no request yet, and shutdown waits for it. So this is less than the time to drain.
const HANDSHAKE_TIMEOUT = 5_000;

const HTTP = {
  connectionsCheckingInterval: CHECKING_INTERVAL,
  maxHeaderSize: NODE_HEADER_LIMIT,
  requireHostHeader: false,
};

// Clients repeat their URLs. A longer one is rarely repeated and not worth its memory.
const KEPT_URLS = 1_000;
const LONGEST_KEPT = 500;

/**
 * Creates the HTTP server without its routes. Errors that Node or Fastify would answer themselves get the API's envelope.
 * `budgetOf` returns the budget of a request without a valid key; `failed` counts failed connections. `renew` sets the
 * certificate of later connections.
 */
export function createServer(options: {
  log: FastifyBaseLogger;
  trustProxy: readonly string[];
  basePath: string;
  tls: Tls | null;
  budgetOf: (address: string) => Budget;
  /** Additional headers of every answer, names and values alternating. */
  always: readonly string[];
  escaped: EscapedErrors;
  failed: (why: ConnectionFailure) => void;
  /** Logs the answer to a malformed request. */
  answered: (answer: BrokenAnswer) => void;
  /** Parses a routed URL below `/api/`. */
  parseUrl: (routed: string) => ApiUrl;
  /** Answers requests below `/api/`, which Fastify never sees. */
  serveApi: (request: IncomingMessage, response: ServerResponse, url: ApiUrl) => void;
}): { app: FastifyInstance; renew: (tls: Tls) => void } {
  const routed = (request: IncomingMessage) => belowBase(routedUrl(request.url ?? '/'), options.basePath);
  const apiUrlOf = keepApiUrls(options);
  function makeServer(toFastify: (request: IncomingMessage, response: ServerResponse) => void): http.Server {
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      const url = apiUrlOf(request);
      if (url) options.serveApi(request, response, url);
      else toFastify(request, response);
    };
    const server = options.tls
      ? https.createServer({ ...HTTP, ...options.tls, handshakeTimeout: HANDSHAKE_TIMEOUT }, handle)
      : http.createServer(HTTP, handle);
    server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
    server.requestTimeout = REQUEST_TIMEOUT;
    server.setTimeout(0);
    return server;
  }

  const settings = {
    // A logger per request would cost as much as its routing. Log lines name the request themselves.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => {
      options.failed(failureOf(error));
      answerBroken(error, socket, pipelining, options);
    },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle' as const,
    genReqId: () => randomUUID(),
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false as const,
    return503OnClosing: false,
    rewriteUrl: routed,
    routerOptions: { maxParamLength: NODE_HEADER_LIMIT },
    serverFactory: makeServer,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
  };
  const app: FastifyInstance = fastify(settings);
  for (const method of METHODS) {
    // CONNECT has no path to route. It is answered below.
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  limitConnections(app.server);
  options.escaped.follow(app.server);
  const keepAddress = (socket: Socket) => {
    if (!rememberAddress(socket)) options.failed('reset');
  };
  app.server.on('connection', keepAddress).on('secureConnection', keepAddress);
  const pipelining = limitPipelining(app.server, options.escaped.guard);
  app.server.headersTimeout = HEADERS_TIMEOUT;
  // Node would silently drop headers after the 2,000th. Their total size is limited anyway.
  app.server.maxHeadersCount = 0;
  app.server.on('connect', (_request, socket) => {
    if (!(socket instanceof Socket)) return void socket.destroy();
    socket.on('error', () => {}); // Node has removed its own listener
    answerBroken(new Error('CONNECT'), socket, pipelining, options);
  });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const renew = (tls: Tls) => {
    if (app.server instanceof https.Server) app.server.setSecureContext(tls);
  };
  return { app, renew };
}

/** Returns a function that parses the URL of a request below `/api/`; null = the URL is elsewhere. */
function keepApiUrls({ basePath, parseUrl }: { basePath: string; parseUrl: (routed: string) => ApiUrl }) {
  const kept = new LRUCache<string, ApiUrl>({ max: KEPT_URLS });
  return ({ url = '/' }: IncomingMessage): ApiUrl | null => {
    const known = kept.get(url);
    if (known) return known;
    const routed = belowBase(routedUrl(url), basePath);
    if (!isApi(routed)) return null;
    const parsed = parseUrl(routed);
    if (url.length <= LONGEST_KEPT) kept.set(url, parsed);
    return parsed;
  };
}

/**
 * Remembers the client's address, which a socket forgets when the connection is reset. Returns false if it was reset before
 * the address was read, and closes the socket, because its requests would have no address.
 */
function rememberAddress(socket: Socket): boolean {
  const { remoteAddress } = socket;
  if (remoteAddress === undefined) {
    socket.destroy();
    return false;
  }
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  return true;
}
