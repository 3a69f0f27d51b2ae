import type pg from 'pg';
import { STORE_DEADLINE_MS } from '../database/connect.ts';
import type { StoreHealth } from '../database/store-health.ts';
import { askOnce } from '../telemetry/ask-once.ts';

/** Why the service can't take requests now, as a line of text; null when it can. Both ports answer `/readyz` by it. */
export type Readiness = () => Promise<string | null>;

/** Whether requests would succeed: the store answers on a connection of `keys`, fails no requests, and the service stays. */
export function readiness(
  keys: pg.Pool,
  health: Pick<StoreHealth, 'failing'>,
  leaving: AbortSignal,
): Readiness {
  const askStore = askOnce(() => keys.query('select 1'), STORE_DEADLINE_MS);
  return async () => {
    if (leaving.aborted) return 'the service stops';
    if ((await askStore()) === null) return 'the store does not answer';
    // A full disk answers, and takes no request.
    return health.failing ? 'the store fails: see the log' : null;
  };
}
