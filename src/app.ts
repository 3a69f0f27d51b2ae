import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import { entries } from './activity/entries.ts';
import { type Handler, handOn, isConsole } from './console/hand-on.ts';
import { servePages } from './console/serve-pages.ts';
import { Deadlines } from './deadlines.ts';
import { formOf } from './forms.ts';
import { type Gate, GateFull, type Verdict } from './gate/admit.ts';
import { Identifier } from './gate/identify.ts';
import { connections } from './health/connections.ts';
import { fleet } from './health/fleet.ts';
import { latestCheck } from './health/latest-check.ts';
import { type Answer, errorAnswer } from './http/answer.ts';
import { bearerToken, checkRequest, ignoreBody, isApi, pagePath, plainAddress } from './http/edge.ts';
import type { Endpoint } from './http/endpoint.ts';
import * as errors from './http/errors.ts';
import type { FailedAuthentications } from './http/failed-authentications.ts';
import { type Budget, rateHeaders } from './http/rate-headers.ts';
import { corsHeaders, finalStatus, PREFLIGHT_HEADERS, respond } from './http/respond.ts';
import { createServer } from './http/server.ts';
import { stats } from './ops/stats.ts';
import { tickets } from './ops/tickets.ts';
import { Preparation, type Prepared } from './prepare.ts';
import { serveReference } from './reference/serve-reference.ts';
import { members } from './team/members.ts';
import { roles } from './team/roles.ts';

/** The eight endpoints of the specification's section 4; what a plan may reach is decided by the path's group. */
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

const ALLOW = ['allow', 'GET, HEAD, OPTIONS'];

// With a pause of half a second 1,500 connections too many cost a process 3,000 refusals a second, not all that it can.
const PAUSE_WHEN_FULL_MS = 500;

const UNPREPARED: Prepared = { answer: errorAnswer(errors.rateLimited), generation: null };

/** What the application stands on. */
export interface Parts {
  log: Logger;
  gate: Gate;
  /** Finds keys; the writer's role. */
  keys: pg.Pool;
  /** Reads answers; pipelining. */
  reader: pg.Pool;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  /** Counts them, for all processes that share the port. */
  failures: FailedAuthentications;
  /** Takes requests to the console's API over. */
  console: Handler;
  /** Hears of every answer: the route, the status, and how long it took, in seconds. */
  measure: (route: string, status: number, seconds: number) => void;
}

/** The application: the eight endpoints behind the gate, the console beside it, `/livez` and `/readyz`. */
export function createApp({
  log,
  gate,
  keys,
  reader,
  corsOrigins,
  trustProxy,
  failures,
  console,
  measure,
}: Parts): FastifyInstance {
  const budgetOf = (address: string) => failures.budget(plainAddress(address));
  const app = createServer({ log, trustProxy, budgetOf });
  const identifier = new Identifier(keys);
  const routes = new Map(ENDPOINTS.map((endpoint) => [`/api/v1${endpoint.path}`, endpoint]));
  const preparation = new Preparation(reader, keys, routes);
  const deadlines = new Deadlines();
  const logsAnswers = log.isLevelEnabled('info');

  for (const [url, { query, response }] of routes) {
    app.route({
      method: app.supportedMethods,
      url,
      schema: { querystring: query, response: { 200: response } },
      handler: () => {
        throw new Error('a request under /api/ is answered before its handler');
      },
    });
  }
  app.get('/livez', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const ready = await keys.query('select 1').then(
      () => true,
      () => false,
    );
    return reply.code(ready ? 200 : 503).send(ready ? 'ok\n' : 'the store does not answer\n');
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send(errors.unknownPath.envelope()));

  // Every request under /api/ takes the same way, unknown paths too, so it is a hook that answers it.
  app.addHook('onRequest', (request, reply, done) => {
    if (isApi(request.url)) {
      void serve(request, reply);
      return;
    }
    if (isConsole(request.url)) {
      handOn(request, reply, console);
      return;
    }
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    done();
  });

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const route = request.routeOptions.url ?? 'unknown'; // Fastify makes the object anew each time
    const life = {
      route,
      started: performance.now(),
      abandoned: false,
      expire() {
        life.abandoned = true;
        fail(request, reply, errors.internalError);
      },
    };
    deadlines.add(life);
    try {
      await answer(request, reply, life);
    } catch (error) {
      if (error instanceof GateFull) {
        // Thousands a second may be: the line below and the metrics tell of them. And whoever asks again at once must not
        // take from others the time that it takes to refuse it.
        await wait(PAUSE_WHEN_FULL_MS);
      } else {
        log.error({ err: error, request_id: request.id }, 'request failed');
      }
      if (!life.abandoned) fail(request, reply, errors.internalError);
    } finally {
      deadlines.remove(life);
      const ms = performance.now() - life.started;
      const { statusCode } = reply.raw;
      measure(route, statusCode, ms / 1000);
      if (logsAnswers) {
        log.info({
          request_id: request.id,
          method: request.method,
          path: pagePath(request.url),
          status: statusCode,
          ms: Math.round(ms * 100) / 100,
        });
      }
    }
  }

  /** The way of a request, in order; the numbers are those of ARCHITECTURE.md. */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    life: { readonly abandoned: boolean; readonly route: string },
  ): Promise<void> {
    // 1. edge
    ignoreBody(request.raw, reply.raw);
    const flaw = checkRequest(request.raw);
    if (flaw) return fail(request, reply, flaw);
    if (request.method === 'OPTIONS') return answerOptions(request, reply);
    const token = bearerToken(request.raw.rawHeaders);
    if (token === null) return refuse(request, reply, errors.unauthorized);

    // 2. identify
    const identity = identifier.known(token) ?? (await identifier.find(token));
    if (!identity) return refuse(request, reply, errors.invalidApiKey);

    for (let attempt = 1; !life.abandoned; attempt += 1) {
      // 3. prepare
      const spent = attempt === 1 && identity.spentUntil > performance.now();
      const prepared = spent
        ? UNPREPARED
        : preparation.prepare(request, reply, identity, life.route, attempt > 1);
      const { answer, generation } = prepared instanceof Promise ? await prepared : prepared;
      if (life.abandoned) return;

      // 4. gate
      const verdict = await gate.admit({
        accountId: identity.accountId,
        apiKeyId: identity.apiKeyId,
        plan: identity.plan,
        generation,
        prepared: !spent,
        form: formOf(request, answer, finalStatus(request, answer)),
        requestId: request.id,
        life,
      });
      if (life.abandoned) return;

      // 5. release
      if (verdict.verdict === 'dead') {
        identifier.forget(token);
        return refuse(request, reply, errors.invalidApiKey);
      }
      identity.plan = verdict.plan;
      identity.generation = verdict.generation;
      identity.spentUntil =
        verdict.verdict === 'limited' ? performance.now() + 1000 * (verdict.endsAt - verdict.now) : 0;
      if (verdict.verdict === 'moved') continue;
      const budget = keyBudget(verdict);
      if (verdict.verdict === 'limited') return limit(request, reply, budget);
      return send(request, reply, answer, budget, answer.status === 405 ? ALLOW : []);
    }
  }

  function send(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    budget: Budget,
    extra: readonly string[],
  ): Promise<void> | void {
    const cors = corsHeaders(corsOrigins, request.headers.origin);
    return respond(request, reply, answer, budget, extra.length === 0 ? cors : [...cors, ...extra]);
  }

  /** Answers a failure of a request that no key stands behind. */
  function fail(
    request: FastifyRequest,
    reply: FastifyReply,
    error: errors.ApiError,
    extra: string[] = [],
  ): void {
    if (!reply.raw.headersSent) void send(request, reply, errorAnswer(error), budgetOf(request.ip), extra);
  }

  /** Counts a failed authentication against its address, and answers it. */
  async function refuse(request: FastifyRequest, reply: FastifyReply, error: errors.ApiError): Promise<void> {
    const counted = await failures.countInAll(plainAddress(request.ip));
    if (reply.raw.headersSent) return; // the deadline came first
    if (!counted) return limit(request, reply, budgetOf(request.ip));
    const why = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
    fail(request, reply, error, ['www-authenticate', `Bearer realm="dbvitals"${why}`]);
  }

  function limit(request: FastifyRequest, reply: FastifyReply, budget: Budget): Promise<void> | void {
    const answer = errorAnswer(errors.rateLimited, budget.resetIn);
    return send(request, reply, answer, { ...budget, remaining: 0 }, ['retry-after', `${budget.resetIn}`]);
  }

  function answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    const { origin } = request.headers;
    const allowed = corsOrigins.includes(origin ?? '') ? PREFLIGHT_HEADERS : [];
    const cors = corsHeaders(corsOrigins, origin);
    const always = ['x-request-id', request.id, 'x-content-type-options', 'nosniff'];
    const headers = [...always, ...cors, ...ALLOW, ...allowed, ...rateHeaders(budgetOf(request.ip))];
    reply.raw.writeHead(204, headers).end();
  }

  serveReference(app);
  servePages(app);
  return app;
}

/** How the key's window stands, as the gate saw it. */
function keyBudget(verdict: Verdict): Budget {
  return {
    limit: verdict.limit,
    remaining: verdict.remaining,
    resetAt: Math.ceil(verdict.endsAt),
    resetIn: Math.max(Math.ceil(verdict.endsAt - verdict.now), 1),
  };
}
