import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import { entries } from '../activity/entries.ts';
import type { DeadKey, RefusedKeys } from '../activity/record-refused-keys.ts';
import { errorFields } from '../database/store-failure.ts';
import type { StoreHealth } from '../database/store-health.ts';
import { STORE_HEADER } from '../database/store-identity.ts';
import type { Gate } from '../gate/admit.ts';
import { Expired, GateFull } from '../gate/gate-errors.ts';
import { Identifier } from '../gate/identify.ts';
import type { Verdict } from '../gate/key-batch.ts';
import { connections } from '../health/connections.ts';
import { fleet } from '../health/fleet.ts';
import { latestCheck } from '../health/latest-check.ts';
import { type Answer, errorAnswer } from '../http/answer.ts';
import {
  bearerToken,
  checkRequest,
  ignoreBody,
  isApi,
  isForwardedWell,
  plainAddress,
} from '../http/edge/edge.ts';
import { type EscapedErrors, forEverybody } from '../http/edge/escaped-errors.ts';
import { createServer } from '../http/edge/http-server.ts';
import type { Tls } from '../http/edge/tls.ts';
import { transportSecurity } from '../http/edge/transport-security.ts';
import type { Endpoint } from '../http/endpoint.ts';
import * as errors from '../http/errors.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import { type Budget, rateHeaders } from '../http/rate-headers.ts';
import { corsHeaders, finalStatus, PREFLIGHT_HEADERS, respond } from '../http/respond.ts';
import { stats } from '../ops/stats.ts';
import { tickets } from '../ops/tickets.ts';
import { members } from '../team/members.ts';
import { roles } from '../team/roles.ts';
import type { ConnectionFailure } from '../telemetry/metrics.ts';
import { type Step, traced } from '../telemetry/tracing.ts';
import { hasAccess } from '../vocabulary/plans.ts';
import { type Handler, isConsole, proxyToConsole } from './console-handler.ts';
import { Deadlines, type Pending } from './deadlines.ts';
import { Preparation, type Prepared } from './prepare-answer.ts';
import { serveReference } from './reference/serve-reference.ts';
import { RequestLog } from './request-log.ts';
import { templateOf } from './request-log-template.ts';
import { type LogStep, stepLogger } from './request-steps.ts';
import { servePages } from './serve-pages.ts';

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

const UNPREPARED: Prepared = { answer: errorAnswer(errors.rateLimited), generation: null, source: 'none' };

/** What the application stands on. */
export interface Parts {
  log: Logger;
  gate: Gate;
  /** Hears of requests that the store fails. */
  health: StoreHealth;
  /** Finds keys; the writer's role. */
  keys: pg.Pool;
  /** Reads answers; pipelining. */
  reader: pg.Pool;
  corsOrigins: readonly string[];
  trustProxy: readonly string[];
  /** Where the service stands behind a proxy; empty = at the root. */
  basePath: string;
  /** Which store it is, for `/readyz` to say. */
  storeId: string;
  /** The origin at which clients reach the service; null = where their connection arrives. */
  publicUrl: string | null;
  /** null = plain HTTP. */
  tls: Tls | null;
  /** Counts failed authentications by address. */
  failures: FailedAuthentications;
  /** Records that a key was tried that was revoked or has expired. */
  refusedKeys: Pick<RefusedKeys, 'note'>;
  /** Takes requests to the console's API over. */
  console: Handler;
  /** Comes some time before the service stops: `/readyz` says so, and every answer ends its connection. */
  leaving: AbortSignal;
  /** Hears of every answer: the route, the status, and how long it took, in seconds, what it was held back on purpose aside. */
  measure: (route: string, status: number, seconds: number) => void;
  /** Hears of every connection that failed. */
  connectionFailed: (why: ConnectionFailure) => void;
  escaped: EscapedErrors;
}

/** A request on its way. */
interface RequestState extends Pending {
  readonly route: string;
  /** Its time was over, and it was answered so. */
  abandoned: boolean;
  /** Whose key it has, as soon as that is known. */
  keyId: number | undefined;
  /** For how long its answer was held back on purpose, in milliseconds. */
  heldBackMs: number;
  /** Logs a step; undefined unless the log level is debug, so that it costs nothing otherwise. */
  readonly step: LogStep | undefined;
}

const gateStep = () => ({ name: 'gate', attributes: {} });

/** The application: the eight endpoints behind the gate, the console beside it, `/livez` and `/readyz`. */
export function createApp({
  log,
  gate,
  health,
  keys,
  reader,
  corsOrigins,
  trustProxy,
  basePath,
  storeId,
  publicUrl,
  tls,
  failures,
  refusedKeys,
  console,
  leaving,
  measure,
  connectionFailed: failed,
  escaped,
}: Parts): { app: FastifyInstance; renew: (tls: Tls) => void } {
  const budgetOf = (address: string) => failures.budget(plainAddress(address));
  const secure = transportSecurity(publicUrl);
  const { app, renew } = createServer({
    ...{ log, trustProxy, basePath, tls, budgetOf, always: secure, escaped, failed },
  });
  const isStrange = (request: FastifyRequest) => trustProxy.length > 0 && !isForwardedWell(request);
  const identifier = new Identifier(keys);
  const routes = new Map(ENDPOINTS.map((endpoint) => [`/api/v1${endpoint.path}`, endpoint]));
  const preparation = new Preparation(reader, keys, routes, { basePath, publicUrl });
  const deadlines = new Deadlines();
  const requestLog = new RequestLog(log);
  const logsSteps = log.isLevelEnabled('debug');
  app.addHook('onClose', async () => requestLog.flush());

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
  const method = ['GET', 'HEAD'];
  app.route({ method, url: '/livez', handler: async () => 'ok\n' });
  app.route({
    method,
    url: '/readyz',
    handler: async (_request, reply) => {
      reply.header(STORE_HEADER, storeId);
      if (leaving.aborted) return reply.code(503).send('the service stops\n');
      const answers = await keys.query('select 1').then(
        () => true,
        () => false,
      );
      if (!answers) return reply.code(503).send('the store does not answer\n');
      // A full disk answers, and takes no request.
      if (health.failing) return reply.code(503).send('the store fails: see the log\n');
      return 'ok\n';
    },
  });

  // Every request under /api/ takes the same way, unknown paths too, so it is a hook that answers it.
  app.addHook('onRequest', (request, reply, done) => {
    if (leaving.aborted) reply.raw.setHeader('connection', 'close');
    if (isApi(request.url)) {
      serve(request, reply).catch((error) => escaped.drop(request.raw.socket, error));
      return;
    }
    const [name, value] = secure;
    if (name !== undefined && value !== undefined) reply.raw.setHeader(name, value);
    if (isConsole(request.url)) {
      const problem = checkRequest(request.raw) ?? (isStrange(request) ? errors.badRequest : null);
      if (problem) return void reply.code(problem.status).send(problem.envelope());
      proxyToConsole(request, reply, console);
      return;
    }
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    done();
  });

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const route = request.routeOptions.url ?? 'unknown'; // Fastify makes the object anew each time
    const started = performance.now();
    const state: RequestState = {
      route,
      started,
      abandoned: false,
      keyId: undefined,
      heldBackMs: 0,
      step: logsSteps ? stepLogger(log, request.id, started) : undefined,
      expire() {
        state.abandoned = true;
        escaped.guard(request.raw.socket, () => {
          fail(request, reply, errors.internalError);
          finish(request, reply, state);
        });
      },
    };
    deadlines.add(state);
    const step = () => ({
      name: `${request.method} ${route}`,
      kind: 'server' as const,
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'dbvitals.request_id': request.id,
      },
      caller: callerOf(request),
      known: state,
    });
    await traced(step, async (tell) => {
      await serveTimed(request, reply, state);
      const { statusCode } = reply.raw;
      tell({ 'http.response.status_code': statusCode });
      if (statusCode >= 500) tell({ 'error.type': `${statusCode}` });
    });
  }

  async function serveTimed(
    request: FastifyRequest,
    reply: FastifyReply,
    state: RequestState,
  ): Promise<void> {
    try {
      await answer(request, reply, state);
    } catch (error) {
      state.step?.('fail', { error: error instanceof Error ? error.constructor.name : typeof error });
      if (error instanceof GateFull) {
        // Thousands a second may be: their lines and the metrics tell of them.
        await holdBack(state, wait(error.pauseMs));
      } else if (!(error instanceof Expired || health.failed(error))) {
        log.error({ request_id: request.id, ...errorFields(error, log) }, 'request failed');
      }
      if (!state.abandoned) fail(request, reply, errors.internalError);
    } finally {
      deadlines.remove(state);
      if (!state.abandoned) finish(request, reply, state);
    }
  }

  async function holdBack(state: RequestState, pause: Promise<void>): Promise<void> {
    const began = performance.now();
    await pause;
    state.heldBackMs += performance.now() - began;
  }

  /** Measures and logs a request, once, when it has its answer. */
  function finish(request: FastifyRequest, reply: FastifyReply, state: RequestState): void {
    const ms = performance.now() - state.started;
    const status = reply.raw.statusCode;
    state.step?.('release', { status });
    measure(state.route, status, (ms - state.heldBackMs) / 1000);
    requestLog.answered(request, { status, ms, keyId: state.keyId });
  }

  /** The way of a request, in order; the numbers are those of docs/design/requests.md. */
  async function answer(request: FastifyRequest, reply: FastifyReply, state: RequestState): Promise<void> {
    // 1. edge
    ignoreBody(request.raw, reply.raw);
    const problem = checkRequest(request.raw) ?? (isStrange(request) ? errors.badRequest : null);
    const token = problem ? null : bearerToken(request.raw.rawHeaders);
    state.step?.('edge', { problem: problem?.code, has_token: token !== null });
    if (problem) return fail(request, reply, problem);
    if (request.method === 'OPTIONS') return answerOptions(request, reply);
    if (token === null) return refuse(request, reply, errors.unauthorized);

    // 2. identify
    const known = identifier.known(token);
    const identity = known ?? (await identifier.find(token));
    state.keyId = identity?.apiKeyId;
    state.step?.('identify', {
      known: known !== undefined,
      key_id: state.keyId,
      account_id: identity?.accountId,
    });
    if (!identity) return refuse(request, reply, errors.invalidApiKey);
    if ('dead' in identity) return refuseDead(request, reply, identity);

    const isSpent = () => identity.spentUntil > performance.now();
    const turn = isSpent() || !hasAccess(identity.plan) ? gate.turn(identity) : null;
    if (turn) {
      await holdBack(state, turn);
      state.step?.('hold back', {});
    }
    for (let attempt = 1; !state.abandoned; attempt += 1) {
      // 3. prepare
      const spent = attempt === 1 && isSpent();
      const prepared = spent
        ? UNPREPARED
        : preparation.prepare(request, reply, identity, state.route, attempt > 1);
      const { answer, generation, source } = prepared instanceof Promise ? await prepared : prepared;
      state.step?.('prepare', { attempt, source, status: answer.status, generation, spent });
      if (state.abandoned) return;

      // 4. gate
      const applicant = {
        accountId: identity.accountId,
        apiKeyId: identity.apiKeyId,
        plan: identity.plan,
        generation,
        prepared: !spent,
        template: templateOf(request, answer, finalStatus(request, answer)),
        requestId: request.id,
        state,
      };
      const verdict = await traced(gateStep, async (tell) => {
        const told = await forEverybody(() => gate.admit(applicant));
        tell({ 'dbvitals.verdict': told.verdict });
        return told;
      });
      state.step?.('gate', {
        verdict: verdict.verdict,
        recorded: verdict.verdict === 'admitted' || verdict.verdict === 'limited',
        remaining: verdict.remaining,
      });
      if (state.abandoned) return;

      // 5. release
      if (verdict.verdict === 'dead') {
        identifier.forget(token);
        return refuseDead(request, reply, identity);
      }
      identity.plan = verdict.plan;
      identity.generation = verdict.generation;
      if (verdict.limit > 0) identity.limit = verdict.limit;
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
    return respond(request, reply, answer, budget, [...secure, ...cors, ...extra]);
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
    const counted = failures.count(plainAddress(request.ip));
    if (reply.raw.headersSent) return; // the deadline came first
    if (!counted) return limit(request, reply, budgetOf(request.ip));
    const why = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
    fail(request, reply, error, ['www-authenticate', `Bearer realm="dbvitals"${why}`]);
  }

  /** {@link refuse} of a key that lived once: the same answer, and an entry in its account's log. */
  function refuseDead(request: FastifyRequest, reply: FastifyReply, key: DeadKey): Promise<void> {
    refusedKeys.note(key, plainAddress(request.ip));
    return refuse(request, reply, errors.invalidApiKey);
  }

  function limit(request: FastifyRequest, reply: FastifyReply, budget: Budget): Promise<void> | void {
    const answer = errorAnswer(errors.rateLimited, budget.resetIn);
    return send(request, reply, answer, { ...budget, remaining: 0 }, ['retry-after', `${budget.resetIn}`]);
  }

  function answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    const { origin } = request.headers;
    const allowed = corsOrigins.includes(origin ?? '') ? PREFLIGHT_HEADERS : [];
    const cors = corsHeaders(corsOrigins, origin);
    const always = ['x-request-id', request.id, 'x-content-type-options', 'nosniff', ...secure];
    const headers = [...always, ...cors, ...ALLOW, ...allowed, ...rateHeaders(budgetOf(request.ip))];
    reply.raw.writeHead(204, headers).end();
  }

  serveReference(app, basePath);
  servePages(app, basePath);
  return { app, renew };
}

/** Who asked, for a trace. A header that is there twice is none. */
function callerOf({ headers }: FastifyRequest): NonNullable<Step['caller']> {
  const one = (value: string | string[] | undefined) => (Array.isArray(value) ? undefined : value);
  return { traceparent: one(headers['traceparent']), tracestate: one(headers['tracestate']) };
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
