/**
 * How long a test waits for what must happen, where Vitest would wait a second. Only a test that fails waits so long, so the
 * limit is for the slowest machine at its worst moment.
 */
export const PATIENCE_MS = 60_000;

/** What each suite's configuration says of `expect.poll`. */
export const patience = { expect: { poll: { timeout: PATIENCE_MS } } };
