import type { CanonicalEntry } from './canonical-entry.ts';

/** Entries in a row that were sealed late. */
export interface LateRange {
  first_id: number;
  last_id: number;
  /** When the first of them happened, as its entry says. */
  occurred_at: string;
  /** When the last of them was sealed; null = not yet. */
  sealed_at: string | null;
  /** The log says that they are sample data (`sample_data_added`). */
  sample: boolean;
}

/** A round of sealing comes every 10 minutes: what took an hour was kept from it, or put in afterwards. */
const LATE_MS = 3_600_000;

/** More are told as one: a log that nobody sealed in time is told in a few lines. */
const MOST_RANGES = 1_000;

/** Finds the entries of a log, given in order, that were sealed more than an hour after they happened. */
export class LateEntries {
  readonly #ranges: LateRange[] = [];
  readonly #samples: { first: number; last: number }[] = [];

  /** Entries that were sealed at that instant. */
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

  /** In the order of ids; what is sample data apart from what is not. */
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

/** The instant an hour before, as the log writes instants: their texts compare as they do. */
export function timeBefore(ms: number): string {
  return `${new Date(ms - LATE_MS).toISOString().slice(0, -1)}000Z`;
}
