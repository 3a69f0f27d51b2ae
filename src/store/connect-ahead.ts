import type pg from 'pg';

/**
 * Opens one connection of each pool in the background, so that the first request waits for none. A store that is away is left to the
 * requests, as later: each of them connects again.
 */
export function connectAhead(...pools: readonly pg.Pool[]): void {
  for (const pool of pools)
    pool.connect().then(
      (client) => client.release(),
      () => {},
    );
}
