import type { Row } from '../fault.ts';
import type { VitalFacts, VitalValue } from './vital.ts';

/** Two runs that are closer than this give no rates; the shortest interval of a connection is 10 s. */
const MINIMUM_SECONDS = 5;

/** How much a counter rose between two runs; null if that is unknown. */
export type Growth = (counter: string) => number | null;

/** Computes a vital from counters; null if one of them is unknown. */
type Formula = (grown: Growth, seconds: number) => number | null;

/** Vitals that come from counters: metric → formula. */
export type Formulas = Readonly<Record<string, Formula>>;

/** The growth of counters a second, added up. */
export function perSecond(...counters: string[]): Formula {
  return (grown, seconds) => {
    const all = counters.map(grown);
    return all.includes(null) ? null : all.reduce((sum: number, by) => sum + (by ?? 0), 0) / seconds;
  };
}

/** The first of the formulas whose counters the server has. */
export function firstKnown(...formulas: Formula[]): Formula {
  return (grown, seconds) =>
    formulas.reduce((found: number | null, formula) => found ?? formula(grown, seconds), null);
}

/** `part` ÷ (`part` + `rest`), or null if neither rose. */
export function shareOf(part: string, rest: string): Formula {
  return (grown) => {
    const [one, other] = [grown(part), grown(rest)];
    return one === null || other === null || one + other === 0 ? null : one / (one + other);
  };
}

/**
 * The growth of counters between two readings: rows with `name` and `value`. A counter that fell, or whose `since`
 * differs, was reset: its growth is unknown, because what it counted before the reset is lost.
 */
export function growthOf(rows: readonly Row[], before: readonly Row[]): Growth {
  const [now, then] = [byName(rows), byName(before)];
  return (counter) => {
    const [one, last] = [now.get(counter), then.get(counter)];
    if (one === undefined || last === undefined || one.since !== last.since) return null;
    const by = one.value - last.value;
    return Number.isFinite(by) && by >= 0 ? by : null;
  };
}

function byName(rows: readonly Row[]): Map<string, { value: number; since: unknown }> {
  return new Map(
    rows.flatMap(({ name, value, since = null }) =>
      typeof name === 'string' && typeof value === 'number' ? [[name, { value, since }]] : [],
    ),
  );
}

/** The vitals that formulas give; those that are unknown are left out, so that a chart shows a gap. */
export function toRates(
  formulas: Formulas,
  rows: readonly Row[],
  before: VitalFacts['before'],
): VitalValue[] {
  if (before === undefined || !(before.seconds >= MINIMUM_SECONDS)) return [];
  const grown = growthOf(rows, before.rows);
  return Object.entries(formulas).flatMap(([metric, formula]) => {
    const value = formula(grown, before.seconds);
    return value === null ? [] : [{ metric, value }];
  });
}

/** Rows with `name`, `value`, and perhaps `database` and `object`, as values. Rows without a number are left out. */
export function gaugesIn(rows: readonly Row[]): VitalValue[] {
  return rows.flatMap(({ name, value, database, object }) =>
    typeof name === 'string' && typeof value === 'number'
      ? [
          {
            metric: name,
            value,
            database: typeof database === 'string' ? database : '',
            object: typeof object === 'string' ? object : null,
          },
        ]
      : [],
  );
}
