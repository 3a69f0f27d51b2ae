/** How a budget of requests stands after a request: of its key, or of its address where there is no key. */
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
 * The headers that every response under `/api/` carries, names and values in turn; the last two are the IETF draft's
 * names for the same.
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
