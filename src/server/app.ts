import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { entries } from '../activity/entries.ts';
import type { StoreHealth } from '../database/store-health.ts';
import { STORE_HEADER } from '../database/store-identity.ts';
import type { KeyHints } from '../gate/identify.ts';
import { connections } from '../health/connections.ts';
import { fleet } from '../health/fleet.ts';
import { latestCheck } from '../health/latest-check.ts';
import { apiUrls } from '../http/api-url.ts';
import { checkRequest, isForwardedWell, plainAddress } from '../http/edge/edge.ts';
import type { EscapedErrors } from '../http/edge/escaped-errors.ts';
import { createServer } from '../http/edge/http-server.ts';
import type { Tls } from '../http/edge/tls.ts';
import { transportSecurity } from '../http/edge/transport-security.ts';
import type { Endpoint } from '../http/endpoint.ts';
import * as errors from '../http/errors.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import { stats } from '../ops/stats.ts';
import { tickets } from '../ops/tickets.ts';
import { members } from '../team/members.ts';
import { roles } from '../team/roles.ts';
import type { ConnectionFailure } from '../telemetry/metrics.ts';
import type { ApiCell } from './cells/api-cell.ts';
import { KeyRouter, type RoutedBy } from './cells/key-router.ts';
import { type Handler, handToConsole, isConsole } from './console-handler.ts';
import { Preparation } from './prepare-answer.ts';
import type { Readiness } from './readiness.ts';
import { serveReference } from './reference/serve-reference.ts';
import { answerer } from './send-answer.ts';
import { type AnsweringCell, serveApi } from './serve-api.ts';
import { servePages } from './serve-pages.ts';

/** The eight endpoints of the specification's section 4. The group of the path decides which plans may use it. */
export const ENDPOINTS: readonly Endpoint[] = [
  connections, // GET /api/v1/health/connections                    Team, Business, Enterprise
  latestCheck, // GET /api/v1/health/connections/:id/checks/latest  Team, Business, Enterprise
  fleet, //       GET /api/v1/health/fleet                          Team, Business, Enterprise
  tickets, //     GET /api/v1/ops/tickets                           Business, Enterprise
  stats, //       GET /api/v1/ops/stats                             Business, Enterprise
  entries, //     GET /api/v1/activity                              Enterprise
  members, //     GET /api/v1/team/members                          Enterprise
  roles, //       GET /api/v1/team/roles                            Enterprise
];

/** The parts that the application is built from. */
export interface Parts {
  log: Logger;
  /** At least one. */
  cells: readonly [ApiCell, ...ApiCell[]];
  /** Is told about requests that fail because of the store, before their cell is known. */
  health: StoreHealth;
  /** The keys of all cells that this process knows. */
  hints: KeyHints;
  /** Says which cell a key is in; null = there is one cell, without a directory. */
  directory: RoutedBy | null;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  /** The service's path behind a proxy; empty = the root. */
  basePath: string;
  /** The identity of the store, a header of `/readyz`. */
  storeId: string;
  /** The origin that clients use for the service; null = the address that they connected to. */
  publicUrl: string | null;
  /** null = plain HTTP. */
  tls: Tls | null;
  /** Counts failed authentications by address. */
  failures: FailedAuthentications;
  /** Handles requests to the console's API. */
  console: Handler;
  /** Why `/readyz` answers 503; null = it answers 200. */
  notReady: Readiness;
  /** Aborted some time before the service stops. From then on `/readyz` answers 503, and every answer closes its connection. */
  leaving: AbortSignal;
  /** Counts an answer: its route, its status and its duration in seconds, without deliberate delays. */
  measure: (route: string, status: number, seconds: number) => void;
  /** Counts a failed connection. */
  connectionFailed: (why: ConnectionFailure) => void;
  escaped: EscapedErrors;
}

/** Creates the application: the eight endpoints behind the gate, the console, `/livez` and `/readyz`. */
export function createApp({
  log,
  cells,
  health,
  hints,
  directory,
  corsOrigins,
  trustProxy,
  basePath,
  storeId,
  publicUrl,
  tls,
  failures,
  console,
  notReady,
  leaving,
  measure,
  connectionFailed: failed,
  escaped,
}: Parts): { app: FastifyInstance; renew: (tls: Tls) => void } {
  const budgetOf = (address: string) => failures.budget(plainAddress(address));
  const secure = transportSecurity(publicUrl);
  const isStrange = (request: FastifyRequest) => trustProxy.length > 0 && !isForwardedWell(request);
  const routes = new Map(ENDPOINTS.map((endpoint) => [`/api/v1${endpoint.path}`, endpoint]));
  const served = (cell: ApiCell): AnsweringCell => {
    const links = { basePath, publicUrl, share: 1 / cells.length };
    return { ...cell, preparation: new Preparation(cell.reader, cell.keys, routes, links) };
  };
  const [first, ...others] = cells;
  const router = new KeyRouter([served(first), ...others.map(served)], hints, directory);
  const answers = answerer({ corsOrigins, secure, failures, leaving });
  const api = serveApi({ log, health, measure, escaped }, router, answers, trustProxy);
  const { app, renew } = createServer({
    ...{ log, trustProxy, basePath, tls, budgetOf, always: secure, escaped, failed },
    ...{ parseUrl: apiUrls(routes.keys()), serveApi: api.serve },
    answered: (answer) => api.requestLog.broken(answer),
  });
  app.addHook('onClose', async () => api.requestLog.flush());

  const method = ['GET', 'HEAD'];
  app.route({ method, url: '/livez', handler: async () => 'ok\n' });
  app.route({
    method,
    url: '/readyz',
    handler: async (_request, reply) => {
      reply.header(STORE_HEADER, storeId);
      const reason = await notReady();
      if (reason !== null) return reply.code(503).send(`${reason}\n`);
      return 'ok\n';
    },
  });

  app.addHook('onRequest', (request, reply, done) => {
    if (leaving.aborted) reply.raw.setHeader('connection', 'close');
    const [name, value] = secure;
    if (name !== undefined && value !== undefined) reply.raw.setHeader(name, value);
    if (isConsole(request.url)) {
      const problem = checkRequest(request.raw) ?? (isStrange(request) ? errors.badRequest : null);
      if (problem) return void reply.code(problem.status).send(problem.envelope());
      handToConsole(request, reply, console);
      return;
    }
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    done();
  });

  serveReference(app, basePath);
  servePages(app, basePath);
  return { app, renew };
}
