import type { FastifyInstance, FastifyRequest } from 'fastify';
import { apiUrls, MCP_PATH } from '../http/api-url.ts';
import { checkRequest, isForwardedWell, plainAddress } from '../http/edge/edge.ts';
import { createServer } from '../http/edge/http-server.ts';
import { transportSecurity } from '../http/edge/transport-security.ts';
import type { Endpoint } from '../http/endpoint.ts';
import * as errors from '../http/errors.ts';
import type { Tls } from '../platform/network/tls.ts';
import { STORE_HEADER } from '../store/store-identity.ts';
import type { Parts } from './app-parts.ts';
import type { ApiCell, ApiCells } from './cells/api-cell.ts';
import { KeyRouter } from './cells/key-router.ts';
import { handOver } from './console-handler.ts';
import { connections } from './endpoints/connections.ts';
import { entries } from './endpoints/entries.ts';
import { fleet } from './endpoints/fleet.ts';
import { alerts } from './endpoints/history/alerts.ts';
import { changes, fleetChanges } from './endpoints/history/changes.ts';
import { episodes } from './endpoints/history/episodes.ts';
import { queries } from './endpoints/history/queries.ts';
import { latestCheck } from './endpoints/latest-check.ts';
import { fleetMeasures } from './endpoints/measures/fleet-latest.ts';
import { latestMeasures } from './endpoints/measures/latest-measures.ts';
import { measureHistory } from './endpoints/measures/measure-history.ts';
import { seals } from './endpoints/seals.ts';
import { stats } from './endpoints/stats.ts';
import { members } from './endpoints/team-members.ts';
import { roles } from './endpoints/team-roles.ts';
import { tickets } from './endpoints/tickets.ts';
import { MessageThread } from './mcp/message-thread.ts';
import { Preparation } from './prepare-answer.ts';
import { serveReference } from './reference/serve-reference.ts';
import { answerer } from './send-answer.ts';
import { type AnsweringCell, serveApi } from './serve-api.ts';
import { servePages } from './serve-pages.ts';

/** The eight endpoints of the specification's section 4, then those that were added. The group of the path decides which plans may use it. */
export const ENDPOINTS: readonly Endpoint[] = [
  connections, // GET /api/v1/health/connections                    Team, Business, Enterprise
  latestCheck, // GET /api/v1/health/connections/:id/checks/latest  Team, Business, Enterprise
  fleet, //       GET /api/v1/health/fleet                          Team, Business, Enterprise
  tickets, //     GET /api/v1/ops/tickets                           Business, Enterprise
  stats, //       GET /api/v1/ops/stats                             Business, Enterprise
  entries, //     GET /api/v1/activity                              Enterprise
  members, //     GET /api/v1/team/members                          Enterprise
  roles, //       GET /api/v1/team/roles                            Enterprise

  latestMeasures, // GET /api/v1/health/connections/:id/measures         Team, Business, Enterprise
  measureHistory, // GET /api/v1/health/connections/:id/measures/history Team, Business, Enterprise
  fleetMeasures, //  GET /api/v1/health/measures                         Team, Business, Enterprise
  changes, //        GET /api/v1/health/connections/:id/changes          Team, Business, Enterprise
  fleetChanges, //   GET /api/v1/health/changes                          Team, Business, Enterprise
  queries, //        GET /api/v1/health/connections/:id/queries          Team, Business, Enterprise
  episodes, //       GET /api/v1/health/connections/:id/episodes         Team, Business, Enterprise
  alerts, //         GET /api/v1/ops/alerts                              Business, Enterprise
  seals, //          GET /api/v1/activity/seals                          Enterprise
];

/** The origins whose pages may send messages of assistants. */
function messageOrigins(corsOrigins: readonly string[], publicUrl: string | null): readonly string[] {
  return publicUrl === null ? corsOrigins : [...corsOrigins, new URL(publicUrl).origin];
}

type Links = ConstructorParameters<typeof Preparation>[3];

/** Returns what gives cells their preparation, once for each cell. */
function serveCells(routes: ReadonlyMap<string, Endpoint>, links: Links) {
  const known = new WeakMap<ApiCell, AnsweringCell>();
  const serve = (cell: ApiCell): AnsweringCell => {
    const answering = known.get(cell) ?? {
      ...cell,
      preparation: new Preparation(cell.reader, cell.keys, routes, links),
    };
    known.set(cell, answering);
    return answering;
  };
  return ([first, ...others]: ApiCells): [AnsweringCell, ...AnsweringCell[]] => [
    serve(first),
    ...others.map(serve),
  ];
}

/** Creates the application: the endpoints behind the gate, the console, `/livez` and `/readyz`. */
export function createApp({
  log,
  requestLog,
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
  handlerOf,
  notReady,
  leaving,
  measure,
  connectionFailed: failed,
  escaped,
}: Parts): { app: FastifyInstance; renew: (tls: Tls) => void; useCells: (cells: ApiCells) => void } {
  const budgetOf = (address: string) => failures.budget(plainAddress(address));
  const secure = transportSecurity(publicUrl);
  const isStrange = (request: FastifyRequest) => trustProxy.length > 0 && !isForwardedWell(request);
  const routes = new Map(ENDPOINTS.map((endpoint) => [`/api/v1${endpoint.path}`, endpoint]));
  // A cell that comes later gets as much room for cached answers as those of the start.
  const allServed = serveCells(routes, { basePath, publicUrl, share: 1 / cells.length });
  const router = new KeyRouter(allServed(cells), hints, directory);
  const answers = answerer({ corsOrigins, secure, failures, leaving });
  const messages = { thread: new MessageThread(), parseUrl: apiUrls([...routes.keys(), MCP_PATH]) };
  const settings = { trustProxy, origins: messageOrigins(corsOrigins, publicUrl), messages };
  const api = serveApi({ log, requestLog, health, measure, escaped }, router, answers, settings);
  const { app, renew } = createServer({
    ...{ log, trustProxy, basePath, tls, budgetOf, always: secure, escaped, failed },
    parseUrl: messages.parseUrl,
    serveApi: api.serve,
    answered: (answer) => requestLog.broken(answer),
  });
  app.addHook('onClose', () => messages.thread.close());
  app.addHook('onClose', async () => requestLog.flush());

  serveReadiness(app, { storeId, notReady });
  app.addHook('onRequest', (request, reply, done) => {
    if (leaving.aborted) reply.raw.setHeader('connection', 'close');
    const [name, value] = secure;
    if (name !== undefined && value !== undefined) reply.raw.setHeader(name, value);
    const handler = handlerOf(request.url);
    if (handler) {
      const problem = checkRequest(request.raw) ?? (isStrange(request) ? errors.badRequest : null);
      if (problem) return void reply.code(problem.status).send(problem.envelope());
      return handOver(request, reply, handler);
    }
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    done();
  });

  serveReference(app, basePath);
  servePages(app, basePath);
  return { app, renew, useCells: (now) => router.use(allServed(now)) };
}

/** `/livez` and `/readyz`. */
function serveReadiness(
  app: FastifyInstance,
  { storeId, notReady }: Pick<Parts, 'storeId' | 'notReady'>,
): void {
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
}
