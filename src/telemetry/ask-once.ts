import { setTimeout as wait } from 'node:timers/promises';

/**
 * The answer of `ask`, or null when it fails or takes longer than `deadlineMs` (milliseconds). Calls at the same time share one answer: a
 * store that hangs is asked nothing more until it answers.
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
