import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { entries } from './activity/entries.ts';
import type { Gate, Life, Verdict } from './gate/admit.ts';
import { Identifier } from './gate/identify.ts';
import { connections } from './health/connections.ts';
import { fleet } from './health/fleet.ts';
import { latestCheck } from './health/latest-check.ts';
import { errorAnswer } from './http/answer.ts';
import {
  bearerToken,
  checkRequest,
  ignoreBody,
  isApi,
  pagePath,
  plainAddress,
  recordable,
} from './http/edge.ts';
import type { Endpoint } from './http/endpoint.ts';
import * as errors from './http/errors.ts';
import { FailedAuthentications } from './http/failed-authentications.ts';
import { type Budget, rateHeaders } from './http/rate-headers.ts';
import { corsHeaders, finalStatus, PREFLIGHT_HEADERS, respond } from './http/respond.ts';
import { createServer } from './http/server.ts';
import { stats } from './ops/stats.ts';
import { tickets } from './ops/tickets.ts';
import { Preparation } from './prepare.ts';
import { members } from './team/members.ts';
import { roles } from './team/roles.ts';

/** The eight endpoints of the specification's section 4; what a plan may reach is decided by the path's group. */
const ENDPOINTS: readonly Endpoint[] = [
  connections, // GET /api/v1/health/connections                    Team, Business, Enterprise
  latestCheck, // GET /api/v1/health/connections/:id/checks/latest  Team, Business, Enterprise
  fleet, //       GET /api/v1/health/fleet                          Team, Business, Enterprise
  tickets, //     GET /api/v1/ops/tickets                           Business, Enterprise
  stats, //       GET /api/v1/ops/stats                             Business, Enterprise
  entries, //     GET /api/v1/activity                              Enterprise
  members, //     GET /api/v1/team/members                          Enterprise
  roles, //       GET /api/v1/team/roles                            Enterprise
];

/** No request waits longer than this for its answer, in milliseconds (ARCHITECTURE.md, "The way of a request"). */
const REQUEST_DEADLINE_MS = 2_000;

const ALLOW = { allow: 'GET, HEAD, OPTIONS' };

/** What the application stands on. */
export interface Parts {
  log: FastifyBaseLogger;
  gate: Gate;
  /** Finds keys; the writer's role. */
  keys: pg.Pool;
  /** Reads answers; pipelining. */
  reader: pg.Pool;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  /** Hears of every answer: the route, the status, and how long it took, in seconds. */
  measure: (route: string, status: number, seconds: number) => void;
}

/** The application: the eight endpoints behind the gate, `/livez` and `/readyz`. */
export function createApp({
  log,
  gate,
  keys,
  reader,
  corsOrigins,
  trustProxy,
  measure,
}: Parts): FastifyInstance {
  const failures = new FailedAuthentications();
  const budgetOf = (address: string) => failures.budget(plainAddress(address));
  const app = createServer({ log, trustProxy, budgetOf });
  const identifier = new Identifier(keys);
  const routes = new Map(ENDPOINTS.map((endpoint) => [`/api/v1${endpoint.path}`, endpoint]));
  const preparation = new Preparation(reader, routes);

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
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    if (!isApi(request.url)) return;
    const started = performance.now();
    const path = pagePath(request.url);
    const life: Life = { abandoned: false };
    const deadline = setTimeout(() => {
      life.abandoned = true;
      fail(request, reply, errors.internalError);
    }, REQUEST_DEADLINE_MS);
    try {
      await answer(request, reply, path, life);
    } catch (error) {
      log.error({ err: error, request_id: request.id }, 'request failed');
      if (!life.abandoned) fail(request, reply, errors.internalError);
    } finally {
      clearTimeout(deadline);
      const ms = performance.now() - started;
      measure(request.routeOptions.url ?? 'unknown', reply.statusCode, ms / 1000);
      log.info({
        request_id: request.id,
        method: request.method,
        path,
        status: reply.statusCode,
        ms: Math.round(ms * 100) / 100,
      });
    }
    return reply;
  });

  /** The way of a request, in order; the numbers are those of ARCHITECTURE.md. */
  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    life: Life,
  ): Promise<void> {
    // 1. edge
    reply.headers(corsHeaders(corsOrigins, request.headers.origin));
    ignoreBody(request.raw, (then) => reply.raw.once('finish', then));
    const flaw = checkRequest(request.raw);
    if (flaw) return fail(request, reply, flaw);
    if (request.method === 'OPTIONS') return answerOptions(request, reply);
    const token = bearerToken(request.raw.rawHeaders);
    if (token === null) return refuse(request, reply, errors.unauthorized);

    // 2. identify
    const identity = await identifier.identify(token);
    if (!identity) return refuse(request, reply, errors.invalidApiKey);

    for (let attempt = 1; !life.abandoned; attempt += 1) {
      // 3. prepare
      const spent = attempt === 1 && identity.spentUntil > performance.now();
      const { answer, generation } = spent
        ? { answer: errorAnswer(errors.rateLimited), generation: null }
        : await preparation.prepare(request, reply, identity, attempt > 1);
      if (life.abandoned) return;

      // 4. gate
      const verdict = await gate.admit({
        accountId: identity.accountId,
        apiKeyId: identity.apiKeyId,
        plan: identity.plan,
        generation,
        prepared: !spent,
        status: finalStatus(request, answer),
        errorCode: answer.errorCode,
        method: request.method,
        pagePath: path,
        query: recordedQuery(request),
        requestId: request.id,
        sourceIp: plainAddress(request.ip),
        userAgent: recordedUserAgent(request),
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
        verdict.verdict === 'limited' ? performance.now() + 1000 * (verdict.ends_at - verdict.now) : 0;
      if (verdict.verdict === 'moved') continue;
      const budget = keyBudget(verdict);
      if (verdict.verdict === 'limited') return limit(request, reply, budget);
      return respond(request, reply, answer, budget, answer.status === 405 ? ALLOW : {});
    }
  }

  /** Answers a failure of a request that no key stands behind. */
  function fail(request: FastifyRequest, reply: FastifyReply, error: errors.ApiError, headers = {}): void {
    void respond(request, reply, errorAnswer(error), budgetOf(request.ip), headers);
  }

  /** Counts a failed authentication against its address, and answers it. */
  function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    error: errors.ApiError,
  ): Promise<void> | void {
    if (!failures.count(plainAddress(request.ip))) return limit(request, reply, budgetOf(request.ip));
    const why = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
    fail(request, reply, error, { 'www-authenticate': `Bearer realm="dbvitals"${why}` });
  }

  function limit(request: FastifyRequest, reply: FastifyReply, budget: Budget): Promise<void> {
    const answer = errorAnswer(errors.rateLimited, budget.resetIn);
    return respond(
      request,
      reply,
      answer,
      { ...budget, remaining: 0 },
      { 'retry-after': String(budget.resetIn) },
    );
  }

  function answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    const allowed = corsOrigins.includes(request.headers.origin ?? '') ? PREFLIGHT_HEADERS : {};
    reply
      .code(204)
      .headers({ ...ALLOW, ...allowed, ...rateHeaders(budgetOf(request.ip)) })
      .send();
  }

  return app;
}

// Longer ones say nothing more; the log's row stays small.
const LONGEST_USER_AGENT = 1_000;

function recordedUserAgent(request: FastifyRequest): string | null {
  const name = request.headers['user-agent'];
  return name === undefined ? null : recordable(name.slice(0, LONGEST_USER_AGENT));
}

function recordedQuery(request: FastifyRequest): string | null {
  const parameters = Object.entries(request.query as Record<string, string | string[]>);
  if (parameters.length === 0) return null;
  const recorded = parameters.map(([name, value]) => [
    recordable(name),
    recordable([value].flat().join(',')),
  ]);
  return JSON.stringify(Object.fromEntries(recorded));
}

/** How the key's window stands, as the gate saw it. */
function keyBudget(verdict: Verdict): Budget {
  return {
    limit: verdict.limit,
    remaining: verdict.remaining,
    resetAt: Math.ceil(verdict.ends_at),
    resetIn: Math.max(Math.ceil(verdict.ends_at - verdict.now), 1),
  };
}
