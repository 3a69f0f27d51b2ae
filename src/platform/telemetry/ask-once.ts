import { setTimeout as wait } from 'node:timers/promises';

/**
 * Returns the result of `ask`, or null if it fails or takes longer than `deadlineMs` (milliseconds). Concurrent calls share one
 * result, so a hanging store gets no further queries.
 */
export function askOnce<T>(ask: () => Promise<T>, deadlineMs: number): () => Promise<T | null> {
  let asking: Promise<T | null> | null = null;
  return () => {
    asking ??= ask()
      .catch(() => null)
      .finally(() => {
        asking = null;
      });
    return Promise.race([asking, wait(deadlineMs, null, { ref: false })]);
  };
}
