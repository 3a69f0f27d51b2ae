import { afterAll, beforeAll } from 'vitest';
import { LIMITS } from '../../src/monitor/limits.ts';
import type { ConnectionKey } from '../../src/monitor/monitor-deps.ts';
import { runHealthCheck } from '../../src/monitor/run.ts';
import type { StoredCheck } from '../../src/monitor/store-run.ts';
import { startTestStore, type TestStore } from './store.ts';

const SHORT = { connectMs: 600, answerMs: 700, databaseMs: 1_500, runMs: 3_000, betweenTriesMs: 50 };

/** A store for a test file, and runs with short limits, so that a hostile server's effect shows within seconds. */
export function shortRuns(): {
  store: () => TestStore;
  run: (key: ConnectionKey) => Promise<StoredCheck & { took: number }>;
} {
  let store: TestStore;
  beforeAll(async () => {
    store = await startTestStore();
    // The start of the first child processes is not timed.
    await Promise.all([run(await store.watched()), run(await store.watched())]);
  });
  afterAll(() => store.stop());

  const run = async (key: ConnectionKey) => {
    const began = performance.now();
    const stored = await runHealthCheck({ ...store.deps, limits: { ...LIMITS, ...SHORT } }, key);
    if (!stored) throw new Error('nothing was stored');
    return { ...stored, took: performance.now() - began };
  };
  return { store: () => store, run };
}

/** The checks with this status, in order. */
export function byStatus({ checks }: StoredCheck, status: string): string[] {
  return checks.filter((check) => check.status === status).map(({ check_id }) => check_id);
}
