import type { ApiRequest } from '../../http/api-request.ts';
import { checkRequest, isForwardedWell } from '../../http/edge/edge.ts';
import * as errors from '../../http/errors.ts';
import type { Rejection } from '../../platform/rejection.ts';

/** What is wrong with a request as HTTP; null = nothing. */
export function findProblem(
  request: ApiRequest,
  { isBehindProxy, origins }: { isBehindProxy: boolean; origins: readonly string[] },
): Rejection | null {
  const problem = checkRequest(request.raw);
  if (problem !== null) return problem;
  if (isBehindProxy && !isForwardedWell(request)) return errors.badRequest;
  // A page may reach the service by a name of its own (DNS rebinding), so the host says nothing.
  const { origin } = request.headers;
  const isForeign = request.body !== null && origin !== undefined && !origins.includes(origin);
  return isForeign && request.method !== 'OPTIONS' ? errors.originNotAllowed : null;
}
