/** A key's requests from their preparation to their verdict. */
export interface InFlight {
  /** How many there are. */
  inFlight: number;
  /** Lets in those that wait for a place, in the order in which they arrived. */
  readonly waiting: (() => void)[];
}

/**
 * How many of one key's requests read the store and pass the gate at a time: two batches. So a flood with one key leaves room
 * for other keys.
 */
const MOST_IN_FLIGHT = 1_000;

/**
 * Waits until the key has a place for one more request; null if it has one. A request waits, and is not rejected, because
 * each request of a live key must be recorded. Call {@link leave} with the same object afterwards.
 */
export function enter(key: InFlight): Promise<void> | null {
  if (key.inFlight >= MOST_IN_FLIGHT) return new Promise((resolve) => key.waiting.push(resolve));
  key.inFlight += 1;
  return null;
}

/** Gives the place of a request to the next one that waits. */
export function leave(key: InFlight): void {
  const next = key.waiting.shift();
  if (next) next();
  else key.inFlight -= 1;
}
