import type { CanonicalEntry } from '../canonical-entry.ts';

/** Consecutive entries that were sealed late. */
export interface LateRange {
  first_id: number;
  last_id: number;
  /** The time in the first of them. */
  occurred_at: string;
  /** When the last of them was sealed; null if not yet. */
  sealed_at: string | null;
  /** The log declares them sample data (`sample_data_added`). */
  sample: boolean;
}

/**
 * Entries are sealed every 10 minutes. An entry that took an hour was held back from sealing, or inserted afterwards.
 */
const LATE_MS = 3_600_000;

/** Further ranges are merged into one, so that the report of a log that was never sealed in time stays short. */
const MOST_RANGES = 1_000;

/** Finds the entries that were sealed more than an hour after their time. Pass the entries in order. */
export class LateEntries {
  readonly #ranges: LateRange[] = [];
  readonly #samples: { first: number; last: number }[] = [];

  /** Checks entries that were sealed at that instant. */
  note(entries: readonly CanonicalEntry[], sealed_at: string): void {
    const inTime = timeBefore(Date.parse(sealed_at));
    for (const { id, occurred_at, action_type, properties } of entries) {
      if (action_type === 'sample_data_added') {
        const { first_id: first, last_id: last } = properties ?? {};
        if (typeof first === 'number' && typeof last === 'number') this.#samples.push({ first, last });
      }
      if (occurred_at >= inTime) continue;
      const before = this.#ranges.at(-1);
      if (before && (before.last_id === id - 1 || this.#ranges.length >= MOST_RANGES)) {
        before.last_id = id;
        before.sealed_at = sealed_at;
      } else this.#ranges.push({ first_id: id, last_id: id, occurred_at, sealed_at, sample: false });
    }
  }

  /** The ranges in the order of ids, with sample data separate. */
  ranges(): LateRange[] {
    const samples = this.#samples.toSorted((a, b) => a.first - b.first);
    return this.#ranges.flatMap((range) => {
      const parts: LateRange[] = [];
      let next = range.first_id;
      for (const { first, last } of samples) {
        const from = Math.max(first, next);
        const to = Math.min(last, range.last_id);
        if (from > to) continue;
        if (from > next) parts.push({ ...range, first_id: next, last_id: from - 1 });
        parts.push({ ...range, first_id: from, last_id: to, sample: true });
        next = to + 1;
      }
      if (next <= range.last_id) parts.push({ ...range, first_id: next });
      return parts;
    });
  }
}

/** The instant an hour before, in the log's format, in which texts compare like instants. */
export function timeBefore(ms: number): string {
  return `${new Date(ms - LATE_MS).toISOString().slice(0, -1)}000Z`;
}
