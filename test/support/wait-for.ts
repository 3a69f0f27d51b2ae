import { vi } from 'vitest';
import { PATIENCE_MS } from './patience.ts';

/** Calls `attempt` until it throws nothing, and resolves to its result. `vi.waitFor` would give up after a second. */
export function waitFor<T>(
  attempt: () => T | Promise<T>,
  { timeout = PATIENCE_MS, interval = 50 }: { timeout?: number; interval?: number } = {},
): Promise<T> {
  return vi.waitFor(attempt, { timeout, interval });
}
