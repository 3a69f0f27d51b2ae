import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { errorFields, StoreUnavailable } from '../database/store-failure.ts';
import type { StoreHealth } from '../database/store-health.ts';
import type { Gate } from '../gate/admit.ts';
import { AccountAway, Expired, GateFull } from '../gate/gate-errors.ts';
import type { DeadKey, Identity } from '../gate/identify.ts';
import { allowsAddress } from '../gate/key-access.ts';
import type { Applicant, Verdict } from '../gate/key-batch.ts';
import { errorAnswer } from '../http/answer.ts';
import { ApiRequest, trustedProxies } from '../http/api-request.ts';
import type { ApiUrl } from '../http/api-url.ts';
import { bearerToken, checkRequest, ignoreBody, isForwardedWell, plainAddress } from '../http/edge/edge.ts';
import * as errors from '../http/errors.ts';
import { finalStatus } from '../http/respond.ts';
import { isTraced, traced } from '../telemetry/tracing.ts';
import { hasAccess } from '../vocabulary/plans.ts';
import type { Parts } from './app.ts';
import type { ApiCell } from './cells/api-cell.ts';
import type { KeyRouter } from './cells/key-router.ts';
import { Deadlines } from './deadlines.ts';
import type { Preparation, Prepared } from './prepare-answer.ts';
import { RequestLog } from './request-log.ts';
import { templateOf } from './request-log-template.ts';
import { type LogStep, requestSpan, stepLogger } from './request-steps.ts';
import { ALLOW, type Answerer, keyBudget } from './send-answer.ts';

const UNPREPARED: Prepared = { answer: errorAnswer(errors.rateLimited), generation: null, source: 'none' };

/** The state of a request under way. */
interface RequestState {
  readonly request: ApiRequest;
  /** When it arrived, on this process's monotonic clock in milliseconds. */
  readonly started: number;
  /** Its place among those that are not answered yet. */
  place: number;
  /** The request missed its deadline and was answered with an error. */
  abandoned: boolean;
  /** The health of the store that it waits for, which records a failure. */
  health: Pick<StoreHealth, 'failed'>;
  /** The id of its API key; undefined until identified. */
  keyId: number | undefined;
  /** How long its answer was delayed deliberately, in milliseconds. */
  heldBackMs: number;
  /** Logs a step. Undefined unless the log level is debug, so that other levels pay nothing. */
  readonly step: LogStep | undefined;
}

/** A cell with what prepares its answers. */
export type AnsweringCell = ApiCell & { readonly preparation: Preparation };

const NOTHING_MORE: readonly string[] = [];

const gateStep = () => ({ name: 'gate', attributes: {} });

/** Answers the requests below `/api/`. All of them take the same steps, including those to unknown paths. */
export function serveApi(
  { log, health, measure, escaped }: Pick<Parts, 'log' | 'health' | 'measure' | 'escaped'>,
  router: KeyRouter<AnsweringCell>,
  answers: Answerer,
  trustProxy: readonly string[],
) {
  const { send, fail, refuse, limit, answerOptions } = answers;
  const trusts = trustedProxies(trustProxy);
  const deadlines = new Deadlines(expire);
  const requestLog = new RequestLog(log);
  const logsSteps = log.isLevelEnabled('debug');

  function serve(raw: IncomingMessage, response: ServerResponse, url: ApiUrl): void {
    // A reset TLS connection may have lost its address, without which a request can't be recorded.
    if (raw.socket.remoteAddress === undefined) return void raw.socket.destroy();
    const request = new ApiRequest(raw, response, url, trusts);
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

  const isAway = (error: unknown) => router.hasDirectory && error instanceof AccountAway;
  async function answerFailure(request: ApiRequest, state: RequestState, error: unknown): Promise<void> {
    state.step?.('fail', { error: error instanceof Error ? error.constructor.name : typeof error });
    if (error instanceof GateFull) {
      // There may be thousands a second. The request log and the metrics count them.
      await holdBack(state, wait(error.pauseMs));
    } else if (!(error instanceof Expired || isAway(error) || state.health.failed(error))) {
      log.error({ request_id: request.id, ...errorFields(error, log) }, 'request failed');
    }
    // This request may be recorded, so no other cell gets it. The key's next one asks where its account lives.
    if (router.hasDirectory && error instanceof StoreUnavailable)
      router.forget(bearerToken(request.raw.rawHeaders) ?? '');
    if (!state.abandoned) fail(request, errors.internalError);
  }

  async function holdBack(state: RequestState, pause: Promise<void>): Promise<void> {
    const began = performance.now();
    await pause;
    state.heldBackMs += performance.now() - began;
  }

  /** Measures and logs an answered request, once. */
  function finish(request: ApiRequest, state: RequestState): void {
    const ms = performance.now() - state.started;
    const status = request.response.statusCode;
    state.step?.('release', { status });
    measure(request.parsed.route, status, (ms - state.heldBackMs) / 1000);
    requestLog.answered(request, { status, ms, keyId: state.keyId });
  }

  /** Refuses a key that exists: the same answer as for an unknown one, plus an entry in its account's log. */
  function refuseKey(request: ApiRequest, key: Identity | DeadKey, byAddress: boolean): Promise<void> {
    router.cellOf(key).refusedKeys.note({ ...key, byAddress }, plainAddress(request.ip));
    return refuse(request, errors.invalidApiKey);
  }

  function admitTraced(gate: Gate, applicant: Applicant): Promise<Verdict> {
    return traced(gateStep, async (tell) => {
      const told = await gate.admit(applicant);
      tell({ 'dbvitals.verdict': told.verdict });
      return told;
    });
  }

  function isAllowed({ access }: Identity, request: ApiRequest): boolean {
    return access.networks === null || allowsAddress(access, plainAddress(request.ip));
  }

  function identified(state: RequestState, key: Identity | DeadKey | null, known: boolean): void {
    state.keyId = key?.apiKeyId;
    state.step?.('identify', { known, key_id: key?.apiKeyId, account_id: key?.accountId });
  }

  /** Asks the store for the key. Answers the request and returns null if the key is refused: a hint alone refuses nobody. */
  async function lookUp(request: ApiRequest, state: RequestState, token: string): Promise<Identity | null> {
    const found = await router.find(token, state);
    identified(state, found, false);
    if (state.abandoned) return null;
    if (found && !('dead' in found) && isAllowed(found, request)) return found;
    if (found) await refuseKey(request, found, !('dead' in found));
    else await refuse(request, errors.invalidApiKey);
    return null;
  }

  /** {@link lookUp} after a cell failed to prepare an answer. Throws `error` if the account still lives there. */
  async function follow(
    request: ApiRequest,
    state: RequestState,
    token: string,
    { cellId }: Identity,
    error: unknown,
  ): Promise<Identity | null> {
    if (!router.hasDirectory) throw error;
    router.forget(token);
    if (state.abandoned) throw error;
    const found = await lookUp(request, state, token);
    if (found?.cellId === cellId) throw error;
    return found;
  }

  /** The steps of a request, in order, numbered as in docs/design/requests.md. */
  async function answer(request: ApiRequest, state: RequestState): Promise<void> {
    // 1. edge
    ignoreBody(request.raw, request.response);
    const problem =
      checkRequest(request.raw) ?? (trusts && !isForwardedWell(request) ? errors.badRequest : null);
    const token = problem ? null : bearerToken(request.raw.rawHeaders);
    state.step?.('edge', { problem: problem?.code, has_token: token !== null });
    if (problem) return fail(request, problem);
    if (request.method === 'OPTIONS') return answerOptions(request);
    if (token === null) return refuse(request, errors.unauthorized);

    // 2. identify
    const known = router.known(token);
    let identity: Identity | null = null;
    if (known && isAllowed(known, request)) {
      identity = known;
      identified(state, known, true);
    } else {
      identity = await lookUp(request, state, token);
      if (identity === null) return;
    }

    const isSpent = (key: Identity) => key.spentUntil > performance.now();
    const waits = isSpent(identity) || !hasAccess(identity.plan);
    const turn = waits ? router.cellOf(identity).gate.turn(identity) : null;
    if (turn) {
      await holdBack(state, turn);
      state.step?.('hold back', {});
    }
    for (let attempt = 1; !state.abandoned; attempt += 1) {
      // 3. prepare
      // All requests of the key share the hint, so it may change while this one reads.
      const { plan, access } = identity;
      const { gate, preparation, health: cellHealth } = router.cellOf(identity);
      state.health = cellHealth;
      const spent = attempt === 1 && isSpent(identity);
      let prepared = spent ? UNPREPARED : preparation.prepare(request, identity, attempt > 1);
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
      const applicant = {
        accountId: identity.accountId,
        apiKeyId: identity.apiKeyId,
        plan,
        accessVersion: access.version,
        generation,
        prepared: !spent,
        template: templateOf(request, answer, finalStatus(request, answer)),
        requestId: request.id,
        state,
      };
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
        if (!router.hasDirectory) return refuseKey(request, identity, false);
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
      if (verdict.verdict === 'limited') return limit(request, budget);
      return send(request, answer, budget, answer.status === 405 ? ALLOW : NOTHING_MORE);
    }
  }

  return { serve, requestLog };
}
