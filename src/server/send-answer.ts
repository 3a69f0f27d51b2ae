import type { Verdict } from '../gate/key-batch.ts';
import { type Answer, errorAnswer } from '../http/answer.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { plainAddress } from '../http/edge/edge.ts';
import * as errors from '../http/errors.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import { type Budget, rateHeaders } from '../http/rate-headers.ts';
import { corsHeaders, PREFLIGHT_HEADERS, respond } from '../http/respond.ts';

/** The methods that every path supports. */
export const ALLOW = ['allow', 'GET, HEAD, OPTIONS'];

/** The functions that {@link answerer} returns. */
export type Answerer = ReturnType<typeof answerer>;

/** Sends the API's answers with their required headers: CORS, transport security, and the budget of the key or address. */
export function answerer({
  corsOrigins,
  secure,
  failures,
  leaving,
}: {
  corsOrigins: readonly string[];
  /** The headers of every answer, names and values alternating. */
  secure: readonly string[];
  failures: FailedAuthentications;
  /** Once aborted, every answer closes its connection. */
  leaving: AbortSignal;
}) {
  const budgetOf = (address: string) => failures.budget(plainAddress(address));

  // Those of nearly every answer.
  const usual = [...secure, ...corsHeaders(corsOrigins, undefined)];

  function send(
    request: ApiRequest,
    answer: Answer,
    budget: Budget,
    extra: readonly string[],
  ): Promise<void> | void {
    if (leaving.aborted) request.response.setHeader('connection', 'close');
    const { origin } = request.headers;
    if (extra.length === 0 && (origin === undefined || corsOrigins.length === 0)) {
      return respond(request, answer, budget, usual);
    }
    return respond(request, answer, budget, [...secure, ...corsHeaders(corsOrigins, origin), ...extra]);
  }

  /** Answers a failure of a request without a valid key. */
  function fail(request: ApiRequest, error: errors.ApiError, extra: string[] = []): void {
    if (!request.response.headersSent) void send(request, errorAnswer(error), budgetOf(request.ip), extra);
  }

  /** Counts a failed authentication against the client's address and answers it. */
  async function refuse(request: ApiRequest, error: errors.ApiError): Promise<void> {
    const counted = failures.count(plainAddress(request.ip));
    if (request.response.headersSent) return; // the deadline came first
    if (!counted) return limit(request, budgetOf(request.ip));
    const why = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
    fail(request, error, ['www-authenticate', `Bearer realm="dbvitals"${why}`]);
  }

  function limit(request: ApiRequest, budget: Budget): Promise<void> | void {
    const answer = errorAnswer(errors.rateLimited, budget.resetIn);
    return send(request, answer, { ...budget, remaining: 0 }, ['retry-after', `${budget.resetIn}`]);
  }

  function answerOptions(request: ApiRequest): void {
    if (leaving.aborted) request.response.setHeader('connection', 'close');
    const { origin } = request.headers;
    const allowed = corsOrigins.includes(origin ?? '') ? PREFLIGHT_HEADERS : [];
    const cors = corsHeaders(corsOrigins, origin);
    const always = ['x-request-id', request.id, 'x-content-type-options', 'nosniff', ...secure];
    const headers = [...always, ...cors, ...ALLOW, ...allowed, ...rateHeaders(budgetOf(request.ip))];
    request.response.writeHead(204, headers).end();
  }

  return { send, fail, refuse, limit, answerOptions };
}

/** The key's budget in its current window, as the gate saw it. */
export function keyBudget(verdict: Verdict): Budget {
  return {
    limit: verdict.limit,
    remaining: verdict.remaining,
    resetAt: Math.ceil(verdict.endsAt),
    resetIn: Math.max(Math.ceil(verdict.endsAt - verdict.now), 1),
  };
}
