/** The budget after a request: that of its key, or of its address if it has no valid key. */
export interface Budget {
  limit: number;
  remaining: number;
  /** When the window ends, in Unix seconds, rounded up. */
  resetAt: number;
  /** Whole seconds until then, rounded up, at least 1. */
  resetIn: number;
}

/** The window of every budget, in seconds (specification, section 8: "per minute"). */
export const WINDOW_SECONDS = 60;

/**
 * The rate-limit headers of every response under `/api/`, names and values alternating. The last two repeat the figures under
 * the names of the IETF draft.
 */
export function rateHeaders(budget: Budget): string[] {
  return [
    'x-ratelimit-limit',
    `${budget.limit}`,
    'x-ratelimit-remaining',
    `${budget.remaining}`,
    'x-ratelimit-reset',
    `${budget.resetAt}`,
    'ratelimit-policy',
    `"default";q=${budget.limit};w=${WINDOW_SECONDS}`,
    'ratelimit',
    `"default";r=${budget.remaining};t=${budget.resetIn}`,
  ];
}
