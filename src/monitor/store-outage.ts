import { errorFields } from '../store/store-failure.ts';
import type { MonitorDeps } from './monitor-deps.ts';

/** Whether the store answers. */
export interface StoreOutage {
  met(error: unknown): void;
  over(): void;
}

/** Logs each outage of the store once, as seen by `who`. */
export function storeOutage(log: MonitorDeps['log'], who = 'the monitor'): StoreOutage {
  let away = false;
  return {
    met(error) {
      if (!away) log.error(errorFields(error, log), `the store does not answer ${who}, which keeps trying`);
      away = true;
    },
    over() {
      if (away) log.info(`the store answers ${who} again`);
      away = false;
    },
  };
}
