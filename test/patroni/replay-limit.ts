/** An entry of one key, in the order of the log. */
export interface KeyEntry {
  status: number;
  /** In milliseconds. */
  at: number;
}

const WINDOW_MS = 60_000;

// An entry's time may follow the gate's by the microseconds that keep the log's times apart.
const TOLERANCE_MS = 5;

/** The windows of a key as its log shows them, and what contradicts its limit. */
export interface Windows {
  count: number;
  refused: number;
  /** Entries admitted beyond the limit, or refused below it. */
  wrong: number;
}

/** Replays the log of a key against its limit: also what was recorded, but never answered, counts. */
export function replayLimit(entries: readonly KeyEntry[], limit: number): Windows {
  let [count, refused, wrong, used, began] = [0, 0, 0, 0, Number.NEGATIVE_INFINITY];
  for (const { status, at } of entries) {
    if (status === 429) {
      refused += 1;
      if (used !== limit) wrong += 1;
      continue;
    }
    const isOver = at >= began + WINDOW_MS - (used >= limit ? TOLERANCE_MS : 0);
    if (isOver) [count, used, began] = [count + 1, 0, at];
    used += 1;
    if (used > limit) wrong += 1;
  }
  return { count, refused, wrong };
}
