import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { errorAnswer } from '../http/answer.ts';
import { ApiRequest, trustedProxies } from '../http/api-request.ts';
import type { ApiUrl } from '../http/api-url.ts';
import { bearerToken } from '../http/edge/edge.ts';
import * as errors from '../http/errors.ts';
import { isTraced, traced } from '../platform/telemetry/tracing.ts';
import { errorFields, StoreUnavailable } from '../store/store-failure.ts';
import { hasAccess } from '../vocabulary/plans.ts';
import type { Parts } from './app-parts.ts';
import type { ApiCell } from './cells/api-cell.ts';
import { keyLookup } from './cells/key-lookup.ts';
import type { KeyRouter } from './cells/key-router.ts';
import { Deadlines } from './deadlines.ts';
import type { Gate } from './gate/admit.ts';
import { Expired, GateFull } from './gate/gate-errors.ts';
import type { Identity } from './gate/identify.ts';
import { enter, leave } from './gate/in-flight.ts';
import type { Applicant, Verdict } from './gate/key-batch.ts';
import type { Preparation, Prepared } from './prepare-answer.ts';
import { type MessageParts, prepareMessage } from './prepare-message.ts';
import { toApplicant, toTemplate } from './request/applicant.ts';
import { findProblem } from './request/find-problem.ts';
import type { RequestState } from './request/request-state.ts';
import { requestSpan, stepLogger } from './request/request-steps.ts';
import { type Answerer, allowedMethods, keyBudget } from './send-answer.ts';

const UNPREPARED: Prepared = { answer: errorAnswer(errors.rateLimited), generation: null, source: 'none' };

/** A cell with what prepares its answers. */
export type AnsweringCell = ApiCell & { readonly preparation: Preparation };

const NOTHING_MORE: readonly string[] = [];

const gateStep = () => ({ name: 'gate', attributes: {} });

const isSpent = (key: Identity) => key.spentUntil > performance.now();

/** What the requests of the API depend on. */
interface ApiSettings {
  readonly trustProxy: readonly string[];
  /** The origins whose pages may send messages. */
  readonly origins: readonly string[];
  readonly messages: MessageParts;
}

function admitTraced(gate: Gate, applicant: Applicant): Promise<Verdict> {
  return traced(gateStep, async (tell) => {
    const told = await gate.admit(applicant);
    tell({ 'dbvitals.verdict': told.verdict });
    return told;
  });
}

/** Answers the requests of the API. All of them take the same steps, including those to unknown paths. */
export function serveApi(
  {
    log,
    requestLog,
    health,
    measure,
    escaped,
  }: Pick<Parts, 'log' | 'requestLog' | 'health' | 'measure' | 'escaped'>,
  router: KeyRouter<AnsweringCell>,
  answers: Answerer,
  { trustProxy, origins, messages }: ApiSettings,
) {
  const { send, fail, refuse, limit, answerOptions } = answers;
  const { identify, lookUp, follow, refuseKey } = keyLookup(router, answers);
  const trusts = trustedProxies(trustProxy);
  const deadlines = new Deadlines(expire);
  const logsSteps = log.isLevelEnabled('debug');

  function serve(
    raw: IncomingMessage,
    response: ServerResponse,
    url: ApiUrl,
    body: ApiRequest['body'],
  ): void {
    // A reset TLS connection may have lost its address, without which a request can't be recorded.
    if (raw.socket.remoteAddress === undefined) return void raw.socket.destroy();
    const request = new ApiRequest(raw, response, url, trusts, body === null ? undefined : { body });
    const started = performance.now();
    const state: RequestState = {
      request,
      started,
      ...{ place: -1, abandoned: false },
      health,
      keyId: undefined,
      heldBackMs: 0,
      step: logsSteps ? stepLogger(log, request.id, started) : undefined,
    };
    deadlines.add(state);
    if (isTraced()) serveTraced(request, state).catch((error) => escaped.drop(raw.socket, error));
    else void serveTimed(request, state);
  }

  function expire(state: RequestState): void {
    const { request } = state;
    state.abandoned = true;
    escaped.guard(request.socket, () => {
      fail(request, errors.internalError);
      finish(request, state);
    });
  }

  function serveTraced(request: ApiRequest, state: RequestState): Promise<void> {
    const span = () => requestSpan(request, state);
    return traced(span, async (tell) => {
      await serveTimed(request, state);
      const { statusCode } = request.response;
      tell({ 'http.response.status_code': statusCode });
      if (statusCode >= 500) tell({ 'error.type': `${statusCode}` });
    });
  }

  /** Never throws. */
  async function serveTimed(request: ApiRequest, state: RequestState): Promise<void> {
    try {
      try {
        await answer(request, state);
      } catch (error) {
        await answerFailure(request, state, error);
      } finally {
        deadlines.remove(state);
        if (!state.abandoned) finish(request, state);
      }
    } catch (error) {
      escaped.drop(request.socket, error);
    }
  }

  async function answerFailure(request: ApiRequest, state: RequestState, error: unknown): Promise<void> {
    state.step?.('fail', { error: error instanceof Error ? error.constructor.name : typeof error });
    if (error instanceof GateFull) {
      // There may be thousands a second. The request log and the metrics count them.
      await holdBack(state, wait(error.pauseMs));
    } else if (!(error instanceof Expired || router.isAway(error) || state.health.failed(error))) {
      log.error({ request_id: request.id, ...errorFields(error, log) }, 'request failed');
    }
    // This request may be recorded, so no other cell gets it. The key's next one asks where its account lives.
    if (error instanceof StoreUnavailable) router.mayHaveMoved(bearerToken(request.raw.rawHeaders) ?? '');
    if (!state.abandoned) fail(request, errors.internalError);
  }

  /** Delays a request deliberately. This time does not count towards its deadline. */
  async function holdBack(state: RequestState, pause: Promise<void>): Promise<void> {
    const began = performance.now();
    deadlines.remove(state);
    await pause;
    const ms = performance.now() - began;
    state.heldBackMs += ms;
    state.started += ms;
    if (!state.abandoned) deadlines.add(state);
  }

  /** Measures and logs an answered request, once. */
  function finish(request: ApiRequest, state: RequestState): void {
    const ms = performance.now() - state.started;
    const status = request.response.statusCode;
    state.step?.('release', { status });
    measure(request.parsed.route, status, ms / 1000);
    requestLog.answered(request, { status, ms: ms + state.heldBackMs, keyId: state.keyId });
  }

  /** The steps of a request, in order, numbered as in docs/design/requests.md. */
  async function answer(request: ApiRequest, state: RequestState): Promise<void> {
    // 1. edge
    const problem = findProblem(request, { isBehindProxy: trusts !== null, origins });
    const token = problem ? null : bearerToken(request.raw.rawHeaders);
    state.step?.('edge', { problem: problem?.code, has_token: token !== null });
    if (problem) return fail(request, problem);
    if (request.method === 'OPTIONS') return answerOptions(request);
    if (token === null) return refuse(request, errors.unauthorized);

    // 2. identify
    const identity = await identify(request, state, token);
    if (identity === null) return;
    if (request.body !== null) {
      await holdBack(state, request.readContent());
      if (request.content === undefined) return fail(request, errors.badRequest);
      await waitFor(state, messages.thread.start());
    }
    const isOver = isSpent(identity) || !hasAccess(identity.plan);
    await waitFor(state, isOver ? router.cellOf(identity).gate.turn(identity) : null);
    await waitFor(state, enter(identity));
    try {
      await admit(request, state, token, identity);
    } finally {
      leave(identity);
    }
  }

  async function waitFor(state: RequestState, turn: Promise<void> | null): Promise<void> {
    if (turn === null) return;
    await holdBack(state, turn);
    state.step?.('hold back', {});
  }

  /** Prepares the answer, asks the gate, and sends the answer. */
  async function admit(
    request: ApiRequest,
    state: RequestState,
    token: string,
    key: Identity,
  ): Promise<void> {
    let identity: Identity | null = key;
    for (let attempt = 1; !state.abandoned; attempt += 1) {
      // 3. prepare
      // All requests of the key share the hint, so it may change while this one reads.
      const current = identity;
      const { plan, access } = current;
      const { gate, preparation, health: cellHealth } = router.cellOf(identity);
      state.health = cellHealth;
      const spent = attempt === 1 && isSpent(identity);
      const prepare = (read: ApiRequest) =>
        spent ? UNPREPARED : preparation.prepare(read, current, attempt > 1);
      let prepared =
        request.body === null ? prepare(request) : prepareMessage(request, current, messages, prepare);
      if (prepared instanceof Promise) {
        try {
          prepared = await gate.whileReading(prepared);
        } catch (error) {
          identity = await follow(request, state, token, identity, error);
          if (identity === null) return;
          continue;
        }
      }
      const { answer, generation, source } = prepared;
      state.step?.('prepare', { attempt, source, status: answer.status, generation, spent });
      if (state.abandoned) return;

      // 4. gate
      const template = toTemplate(request, prepared);
      const applicant = toApplicant(state, current, { plan, access, generation, spent, template });
      const verdict = await (isTraced() ? admitTraced(gate, applicant) : gate.admit(applicant));
      state.step?.('gate', {
        verdict: verdict.verdict,
        recorded: verdict.verdict === 'admitted' || verdict.verdict === 'limited',
        remaining: verdict.remaining,
      });
      if (state.abandoned) return;

      // 5. release
      if (verdict.verdict === 'dead') {
        router.forget(token);
        if (!router.mayHaveMoved(token)) return refuseKey(request, identity, false);
        // Its account may live in another cell by now.
        identity = await lookUp(request, state, token);
        if (identity === null) return;
        continue;
      }
      identity.plan = verdict.plan;
      identity.generation = verdict.generation;
      if (verdict.limit > 0) identity.limit = verdict.limit;
      identity.spentUntil =
        verdict.verdict === 'limited' ? performance.now() + 1000 * (verdict.endsAt - verdict.now) : 0;
      if (verdict.accessVersion !== null && verdict.accessVersion !== access.version) {
        identity = await lookUp(request, state, token);
        if (identity === null) return;
      }
      if (verdict.verdict === 'moved') continue;
      const budget = keyBudget(verdict);
      if (verdict.verdict === 'limited') {
        const { whenLimited } = prepared;
        return limit(request, budget, whenLimited && (await whenLimited(budget.resetIn)));
      }
      return send(request, answer, budget, answer.status === 405 ? allowedMethods(request) : NOTHING_MORE);
    }
  }

  return { serve };
}
