import type { Logger } from 'pino';
import type { ApiRequest } from '../../http/api-request.ts';
import type { Step } from '../../platform/telemetry/tracing.ts';

/** Logs a step of a request with its results, never with a secret. */
export type LogStep = (step: string, facts: Record<string, unknown>) => void;

/** Logs the steps of a request at debug level: `ms` since it arrived at `started`, `step_ms` since the previous step. */
export function stepLogger(log: Pick<Logger, 'debug'>, requestId: string, started: number): LogStep {
  let last = started;
  return (step, facts) => {
    const now = performance.now();
    const times = { ms: rounded(now - started), step_ms: rounded(now - last) };
    last = now;
    log.debug({ request_id: requestId, step, ...times, ...facts }, 'request step');
  };
}

/** Rounds to two decimals. */
export function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** The trace's step that answers a request. Other steps link to it by `known`. */
export function requestSpan(request: ApiRequest, known: object): Step {
  const { route } = request.parsed;
  return {
    name: `${request.method} ${route}`,
    kind: 'server',
    attributes: {
      'http.request.method': request.method,
      'http.route': route,
      'dbvitals.request_id': request.id,
    },
    caller: callerOf(request),
    known,
  };
}

/** The caller's trace context. A header that occurs twice is ignored. */
function callerOf({ headers }: ApiRequest): NonNullable<Step['caller']> {
  const one = (value: string | string[] | undefined) => (Array.isArray(value) ? undefined : value);
  return { traceparent: one(headers['traceparent']), tracestate: one(headers['tracestate']) };
}
