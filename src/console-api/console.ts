import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { Actor } from '../accounts/members/actor.ts';
import { readSessionToken } from '../accounts/sign-in/session/session-cookie.ts';
import { lacking, proofNeeded } from '../accounts/sign-in/session-rejections.ts';
import { actorOf, changeAs, requireStill } from '../accounts/sign-in/sessions.ts';
import type { Caller } from '../accounts/sign-in/sign-in-request.ts';
import { callerFactsOf } from '../api/console-handler.ts';
import { encoded, successAnswer } from '../http/answer.ts';
import { compileSchemasOnUse } from '../http/edge/compile-schemas.ts';
import { checkRequest, recordable } from '../http/edge/edge.ts';
import { checkQuery } from '../http/edge/parameters.ts';
import { acceptedCoding } from '../http/respond.ts';
import { notFound, Rejection } from '../platform/rejection.ts';
import { type TObject, Type } from '../platform/schema/schema.ts';
import type { ConsoleStore } from '../store/directory/console-stores.ts';
import { type Read, readOwn } from '../store/read.ts';
import { Budget, type Visit } from './budget.ts';
import { isHeartbeat, serveHeartbeats } from './connections/heartbeat-calls.ts';
import { internalError, LARGEST_BODY, toPublicError } from './public-error.ts';
import type { ConsoleParts, ConsoleRequest, ConsoleRoute, Streamed } from './route.ts';
import { ROUTES } from './routes.ts';
import { sendStream } from './send-stream.ts';
import { readInTurn, writeInTurn } from './turns/in-turn.ts';
import { bodyValidationError } from './validation-error.ts';

const LONGEST_USER_AGENT = 500;
/** A passkey's id: 1,023 bytes (WebAuthn, 4), in base64url. */
const LONGEST_PARAMETER = 1_364;
/** The delay before a request over the budget is rejected. */
const PAUSE_WHEN_SPENT_MS = 500;
const JSON_TYPE = 'application/json; charset=utf-8';
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'];
const NO_QUERY = Type.Object({});

/** A signed-in member with the admitted request. */
interface Member {
  actor: Actor;
  store: ConsoleStore;
  visit: Visit;
}

const urlOf = ({ path }: ConsoleRoute) => `/console/api${path}`;

const strangeOrigin = new Rejection(
  'forbidden',
  'This request did not come from a console page. Open the console at the address of the service; a proxy in front of it must forward that address (DBVITALS_TRUST_PROXY).',
);
const notJson = new Rejection('forbidden', 'Send the content type application/json.');
const noSuchRoute = new Rejection('not_found', 'The console has no such route. Reload the page.');

/** The console's API: `ROUTES` below `/console/api`. Each checks origin, session and permission, in this order. */
export async function createConsole(parts: ConsoleParts): Promise<FastifyInstance> {
  const log: FastifyBaseLogger = parts.log;
  const app: FastifyInstance = fastify({
    bodyLimit: LARGEST_BODY,
    childLoggerFactory: (logger) => logger,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    genReqId: (request) => callerFactsOf(request as IncomingMessage).requestId,
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: 12_000,
    return503OnClosing: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
  });
  compileSchemasOnUse(app);
  const callers = new WeakMap<FastifyRequest, Caller>();
  const actors = new WeakMap<FastifyRequest, Member>();
  const budget = new Budget();
  const visits = new WeakMap<FastifyRequest, Visit>();

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    if (text === '') return done(null, undefined);
    try {
      done(null, JSON.parse(String(text)));
    } catch {
      done(new Rejection('invalid_parameter', 'Send one JSON object.'));
    }
  });

  // Only routes that mail programs post to get here with a form: they ignore it.
  app.addContentTypeParser(FORMS, { parseAs: 'string' }, (_request, _text, done) => done(null, undefined));
  const fromMailPrograms = new Set(
    ROUTES.filter((route) => route.permission === 'anyone' && route.fromMailPrograms).map(urlOf),
  );

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'x-request-id': request.id,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
    const problem = checkRequest(request.raw);
    if (problem) throw problem;
    const { requestId, address, origin } = callerFactsOf(request.raw);
    const userAgent = recordable(request.headers['user-agent'] ?? '').slice(0, LONGEST_USER_AGENT);
    const sessionToken = readSessionToken(origin, parts.basePath, request.headers.cookie);
    callers.set(request, { requestId, address, origin, userAgent, sessionToken });
    if (request.method === 'GET' || request.method === 'HEAD' || isHeartbeat(request)) return;
    const { 'content-type': sent = FORMS[0] } = request.headers;
    const isOneClick =
      fromMailPrograms.has(request.routeOptions.url ?? '') &&
      request.headers.origin === undefined &&
      FORMS.some((form) => sent?.toLowerCase().startsWith(form));
    if (isOneClick) return;
    if (!comesFrom(request, origin)) throw strangeOrigin;
    requireJson(request);
  });

  serveHeartbeats(app, parts, (request) => callers.get(request)?.address ?? '');
  for (const route of ROUTES) {
    const { body, cost = 1, query = NO_QUERY, response, status = response === null ? 204 : 200 } = route;
    app.route({
      method: route.method,
      url: urlOf(route),
      attachValidation: true,
      schema: {
        querystring: query,
        ...(body && { body: { ...body, additionalProperties: false } }),
        ...(typeof response === 'object' && response !== null && { response: { [status]: response } }),
      },
      onRequest: async (request, reply) => {
        if (route.permission === 'anyone') return;
        const token = callers.get(request)?.sessionToken ?? null;
        await slowly(() => budget.requireLeft(token));
        const { actor, store } = await actorOf(parts, token);
        const visit = await slowly(() =>
          budget.enter(token ?? '', actor.accountId, {
            cost: typeof cost === 'function' ? cost(request.query as Record<string, unknown>) : cost,
            isStream: response === 'stream',
          }),
        );
        visits.set(request, visit);
        reply.raw.once('close', visit.leave).once('finish', visit.leave);
        if (route.permission !== 'member' && !actor.permissions.has(route.permission)) {
          throw lacking(route.permission);
        }
        if (route.recent && !actor.isRecent) throw proofNeeded;
        actors.set(request, { actor, store, visit });
      },
      handler: async (request, reply) => {
        const given = await answer(route, asked(route, query, request, reply), actors.get(request));
        if (given === reply || reply.sent) return reply;
        reply.code(status);
        return response === 'stream' ? sendStream(request, reply, given as Streamed) : reply.send(given);
      },
    });
  }

  /** The validated request. */
  function asked(
    route: ConsoleRoute,
    query: TObject,
    request: FastifyRequest,
    reply: FastifyReply,
  ): ConsoleRequest {
    const caller = callers.get(request);
    if (!caller) throw new Error('a request without its caller');
    const params = request.params as Record<string, string>;
    const id = params['id'] === undefined ? 0 : Number(params['id']);
    if (
      params['id'] !== undefined &&
      !(/^[1-9][0-9]{0,15}$/.test(params['id']) && Number.isSafeInteger(id))
    ) {
      throw notFound();
    }
    const isOpen = 'additionalProperties' in query && query.additionalProperties === true;
    const checked = isOpen
      ? {}
      : checkQuery(
          request.query as Record<string, string | string[]>,
          query,
          request.getValidationFunction('querystring'),
        );
    if (request.validationError?.validationContext === 'body') {
      throw bodyValidationError(route.body ?? NO_QUERY, request.validationError);
    }
    return {
      parts,
      caller,
      id,
      params,
      query: checked,
      body: (request.body ?? {}) as ConsoleRequest['body'],
      reply,
    };
  }

  function answer(
    route: ConsoleRoute,
    request: ConsoleRequest,
    member: Member | undefined,
  ): Promise<unknown> {
    if (route.permission === 'anyone') return route.handler(request);
    if (!member) throw new Error('a route for members without a member');
    const { actor, store, visit } = member;
    const { accountId, loginId } = actor;
    return route.handler({
      ...request,
      actor,
      store,
      read: (work) => readInTurn(store.reader, accountId, visit, work),
      readOwn: (work) => readOwn(parts.controlReader, loginId, work),
      readOwnAccounts: (statement, values) =>
        parts.stores.inEach(({ reader }) => readOwn(reader, loginId, (run) => run(statement, values))),
      requireStill: () => {
        // Each read alone: a read within a read would wait for another connection of a pool, and hold one.
        const control: Read = (text, values) =>
          readOwn(parts.controlReader, loginId, (run) => run(text, values));
        const cell: Read = (text, values) => readOwn(store.reader, loginId, (run) => run(text, values));
        return requireStill({ control, cell }, actor, route.permission);
      },
      change: (work) =>
        writeInTurn(store.writer, accountId, visit, () =>
          changeAs(store.writer, actor, request.caller, route.permission)(work),
        ),
      withWriter: (work) => writeInTurn(store.writer, accountId, visit, () => work(store.writer)),
    });
  }

  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string') return payload;
    visits.get(request)?.charge(payload.length);
    const whole = successAnswer(Buffer.from(payload), null, false);
    const coding = acceptedCoding(request, whole);
    if (!coding) return payload;
    reply.headers({ 'content-encoding': coding, vary: 'Accept-Encoding' }).removeHeader('content-length');
    return encoded(whole, coding);
  });

  app.addHook('onResponse', async (request, reply) => {
    // Log the route, not the path: the path of a link contains its token.
    const { id: request_id, method, routeOptions } = request;
    const { elapsedTime, statusCode: status } = reply;
    const path = routeOptions.url ?? 'unknown';
    parts.measure(method, path, status, elapsedTime / 1000);
    const line = { request_id, method, path, status, ms: elapsedTime };
    parts.requestLog.consoleAnswered(line, visits.has(request));
  });

  app.setNotFoundHandler(async () => {
    throw noSuchRoute;
  });
  app.setErrorHandler((error, request, reply) => {
    const told = toPublicError(error);
    // A client that disconnected while sending its request is not a failure.
    if (told === internalError && error !== request.raw.errored)
      log.error({ err: error, request_id: request.id }, 'a request of the console failed');
    if (told.retryAfter !== null) reply.header('retry-after', told.retryAfter);
    // Fastify closes the connection on an unread body, and the reset would overtake the answer. Node reads and drops the
    // rest.
    reply.removeHeader('connection');
    return reply.code(told.status).type(JSON_TYPE).send(told.envelope());
  });

  await app.ready();
  return app;
}

/** Delays a 429 by half a second, so that a loop of rejected requests costs others little. */
async function slowly<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    await wait(PAUSE_WHEN_SPENT_MS);
    throw error;
  }
}

/** A change has a body of JSON, or none. Other sites can't send JSON without asking. */
function requireJson({ headers }: FastifyRequest): void {
  const { 'content-type': type, 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  const bare = type === undefined && length === '0' && coding === undefined;
  if (!bare && !/^application\/json *(?:;|$)/i.test(type ?? '')) throw notJson;
}

/** Whether the browser says that one of our pages sent the request. Other sites can't forge these headers. */
function comesFrom(request: FastifyRequest, origin: string): boolean {
  const given = request.headers.origin;
  return given === undefined ? request.headers['sec-fetch-site'] === 'same-origin' : given === origin;
}
