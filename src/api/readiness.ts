import type pg from 'pg';
import { askOnce } from '../platform/telemetry/ask-once.ts';
import { STORE_DEADLINE_MS } from '../store/connect.ts';
import type { StoreHealth } from '../store/store-health.ts';

/** Why the service can't take requests now, as a line of text; null when it can. Both ports answer `/readyz` by it. */
export type Readiness = () => Promise<string | null>;

/** Whether requests would succeed in one store: it answers on a connection of `keys`, and fails no requests. */
export function storeReadiness(keys: pg.Pool, health: Pick<StoreHealth, 'failing'>): Readiness {
  const askStore = askOnce(() => keys.query('select 1'), STORE_DEADLINE_MS);
  return async () => {
    if ((await askStore()) === null) return 'the store does not answer';
    // A full disk answers, and takes no request.
    return health.failing ? 'the store fails: see the log' : null;
  };
}

/**
 * Whether the service takes requests: some cell does, and the service stays. With one of several cells down, every instance
 * fails the requests of that cell and answers those of the others, so a load balancer must keep all of them.
 */
export function readiness(cells: () => readonly { notReady: Readiness }[], leaving: AbortSignal): Readiness {
  return async () => {
    if (leaving.aborted) return 'the service stops';
    const reasons = await Promise.all(cells().map(({ notReady }) => notReady()));
    return reasons.includes(null) ? null : (reasons[0] ?? null);
  };
}
