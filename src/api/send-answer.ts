import { type Answer, errorAnswer } from '../http/answer.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { plainAddress } from '../http/edge/edge.ts';
import * as errors from '../http/errors.ts';
import type { FailedAuthentications } from '../http/failed-authentications.ts';
import { type Budget, rateHeaders } from '../http/rate-headers.ts';
import { corsHeaders, MESSAGE_PREFLIGHT_HEADERS, PREFLIGHT_HEADERS, respond } from '../http/respond.ts';
import type { Rejection } from '../platform/rejection.ts';
import type { Verdict } from './gate/key-batch.ts';

/** The methods that a path supports. */
export function allowedMethods({ body }: ApiRequest): readonly string[] {
  return ['allow', body === null ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS'];
}

/** Call it before an answer is sent. While the service is leaving, every answer closes its connection. */
function begin({ body, response }: ApiRequest, leaving: AbortSignal): void {
  body?.ignore();
  if (leaving.aborted) response.setHeader('connection', 'close');
}

/** The functions that {@link answerer} returns. */
export type Answerer = ReturnType<typeof answerer>;

/** What the answers of a service have in common. */
interface AnswerParts {
  corsOrigins: readonly string[];
  /** The headers of every answer, names and values alternating. */
  secure: readonly string[];
  failures: FailedAuthentications;
  /** Once aborted, every answer closes its connection. */
  leaving: AbortSignal;
}

/** Sends the API's answers with their required headers: CORS, transport security, and the budget of the key or address. */
export function answerer({ corsOrigins, secure, failures, leaving }: AnswerParts) {
  const budgetOf = (address: string) => failures.budget(plainAddress(address));

  // Those of nearly every answer.
  const usual = [...secure, ...corsHeaders(corsOrigins, undefined)];

  function send(
    request: ApiRequest,
    answer: Answer,
    budget: Budget,
    extra: readonly string[],
  ): Promise<void> | void {
    begin(request, leaving);
    const { origin } = request.headers;
    if (extra.length === 0 && (origin === undefined || corsOrigins.length === 0)) {
      return respond(request, answer, budget, usual);
    }
    return respond(request, answer, budget, [...secure, ...corsHeaders(corsOrigins, origin), ...extra]);
  }

  /** Answers a failure of a request without a valid key. */
  function fail(request: ApiRequest, error: Rejection, extra: string[] = []): void {
    if (!request.response.headersSent) void send(request, errorAnswer(error), budgetOf(request.ip), extra);
  }

  /** Counts a failed authentication against the client's address and answers it. */
  async function refuse(request: ApiRequest, error: Rejection): Promise<void> {
    const counted = failures.count(plainAddress(request.ip));
    if (request.response.headersSent) return; // the deadline came first
    if (!counted) return limit(request, budgetOf(request.ip));
    const why = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
    fail(request, error, ['www-authenticate', `Bearer realm="dbvitals"${why}`]);
  }

  /** Answers a request over a limit; `answer` = not the error. */
  function limit(
    request: ApiRequest,
    budget: Budget,
    answer = errorAnswer(errors.rateLimited, budget.resetIn),
  ): Promise<void> | void {
    return send(request, answer, { ...budget, remaining: 0 }, ['retry-after', `${budget.resetIn}`]);
  }

  function answerOptions(request: ApiRequest): void {
    begin(request, leaving);
    const headers = optionsHeaders(request, corsOrigins, secure);
    request.response.writeHead(204, [...headers, ...rateHeaders(budgetOf(request.ip))]).end();
  }

  return { send, fail, refuse, limit, answerOptions };
}

/** The headers of the answer to OPTIONS but for those of the budget; `secure` are those of every answer. */
function optionsHeaders(
  request: ApiRequest,
  corsOrigins: readonly string[],
  secure: readonly string[],
): string[] {
  const { origin } = request.headers;
  const preflight = request.body === null ? PREFLIGHT_HEADERS : MESSAGE_PREFLIGHT_HEADERS;
  const allowed = corsOrigins.includes(origin ?? '') ? preflight : [];
  const always = ['x-request-id', request.id, 'x-content-type-options', 'nosniff', ...secure];
  return [...always, ...corsHeaders(corsOrigins, origin), ...allowedMethods(request), ...allowed];
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
