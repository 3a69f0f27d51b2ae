import { useRenew } from './use-action.ts';

/** The first parts of the keys of all that shows connections, or their tickets, silences or thresholds. */
export const CONNECTION_KEYS = ['connections', 'fleet', 'tickets', 'silences', 'thresholds'];

/** Reads all of that again. */
export function useRenewConnections(): () => Promise<void> {
  return useRenew(CONNECTION_KEYS);
}
