// Seconds from a failed attempt to the next, as Standard Webhooks recommends.
const PAUSES = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** How often a delivery is tried. */
export const MOST_ATTEMPTS = PAUSES.length + 1;

const JITTER = 0.1;
const LONGEST_RETRY_AFTER = 86_400;

/**
 * The seconds until the next attempt, after `attempts` failed ones; null = there is none. `retryAfter` is the receiver's
 * wish, which only makes the pause longer. `random` is from 0 to 1.
 */
export function secondsToRetry(
  attempts: number,
  retryAfter: number | null,
  random = Math.random(),
): number | null {
  const pause = PAUSES[attempts - 1];
  if (pause === undefined) return null;
  const jittered = pause * (1 + JITTER * (2 * random - 1));
  return Math.max(jittered, Math.min(Math.max(retryAfter ?? 0, 0), LONGEST_RETRY_AFTER));
}
