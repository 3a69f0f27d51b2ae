import type { Logger } from 'pino';

/** Logs a step of a request with what it found out, never a secret. */
export type LogStep = (step: string, facts: Record<string, unknown>) => void;

/** Logs the steps of a request at debug: `ms` since it came in at `started`, `step_ms` since the step before. */
export function stepLogger(log: Pick<Logger, 'debug'>, requestId: string, started: number): LogStep {
  let last = started;
  return (step, facts) => {
    const now = performance.now();
    const times = { ms: rounded(now - started), step_ms: rounded(now - last) };
    last = now;
    log.debug({ request_id: requestId, step, ...times, ...facts }, 'request step');
  };
}

/** With two decimals. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
