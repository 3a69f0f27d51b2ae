import type { Logger } from 'pino';

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
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
