import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import https from 'node:https';
import { Socket } from 'node:net';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Tls } from '../../platform/network/tls.ts';
import type { ConnectionFailure } from '../../platform/telemetry/metrics.ts';
import { type ApiUrl, MCP_PATH } from '../api-url.ts';
import type { Budget } from '../rate-headers.ts';
import { answerBroken, answerFailed, type BrokenAnswer } from './answer-broken-request.ts';
import { limitConnections } from './connection-limits.ts';
import { belowBase, ignoreBody, isApi, NODE_HEADER_LIMIT, routedUrl } from './edge.ts';
import type { EscapedErrors } from './escaped-errors.ts';
import { limitPipelining } from './pipelining.ts';
import { RequestBody } from './request-body.ts';

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

/** Answers requests of the API, which Fastify never sees. The body is null if it is ignored. */
type ServeApi = (
  request: IncomingMessage,
  response: ServerResponse,
  url: ApiUrl,
  body: RequestBody | null,
) => void;

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
  /** Parses a routed URL of the API. */
  parseUrl: (routed: string) => ApiUrl;
  serveApi: ServeApi;
}): { app: FastifyInstance; renew: (tls: Tls) => void } {
  const routed = (request: IncomingMessage) => belowBase(routedUrl(request.url ?? '/'), options.basePath);
  const apiUrlOf = keepApiUrls(options);
  function makeServer(toFastify: (request: IncomingMessage, response: ServerResponse) => void): http.Server {
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      const url = apiUrlOf(request);
      if (!url) return void toFastify(request, response);
      const ignoreRest = () => pipelining.ignoreRest(request.socket);
      options.serveApi(request, response, url, takeBody(request, response, { url, ignoreRest }));
    };
    const server = options.tls
      ? https.createServer(
          { ...HTTP, ...options.tls, handshakeTimeout: HANDSHAKE_TIMEOUT, allowHalfOpen: true },
          handle,
        )
      : http.createServer(HTTP, handle);
    // A client that has sent whole requests and closes its sending side gets its answers. Node's types do not declare it.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
    server.requestTimeout = REQUEST_TIMEOUT;
    server.setTimeout(0);
    return server;
  }

  const settings = {
    // A logger per request would cost as much as its routing. Log lines name the request themselves.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) =>
      answerFailed(error, socket, pipelining, options),
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

/** The body of a message of an assistant. Others are ignored. */
function takeBody(
  request: IncomingMessage,
  response: ServerResponse,
  { url, ignoreRest }: { url: ApiUrl; ignoreRest: () => void },
): RequestBody | null {
  if (url.route === MCP_PATH) return new RequestBody(request, response, ignoreRest);
  ignoreBody(request, response, ignoreRest);
  return null;
}

/** Returns a function that parses the URL of a request of the API; null = the URL is elsewhere. */
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
