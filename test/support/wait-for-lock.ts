import type pg from 'pg';
import { expect } from 'vitest';

// Unlike pg_stat_activity, it shows the same transaction new rows.
const selectWaiting = 'select distinct pid from pg_locks where not granted';

/** Resolves once so many sessions of the client's server wait for a lock. */
export function waitForLock(client: pg.ClientBase, sessions = 1): Promise<void> {
  return expect
    .poll(async () => (await client.query(selectWaiting)).rowCount)
    .toBeGreaterThanOrEqual(sessions);
}
