/** The points of a series: parallel arrays, oldest first. */
export interface Points {
  /** Unix time in seconds. */
  at: number[];
  last: (number | null)[];
}

/** Points of hours or days. */
export interface Summaries extends Points {
  minimum: (number | null)[];
  maximum: (number | null)[];
  mean: (number | null)[];
}

/** An hour or a day of a series. */
export interface Summary {
  minimum: number;
  maximum: number;
  mean: number;
  last: number;
}

/** A run: Unix time in seconds, and a value of each series. */
export interface RunValues {
  at: number;
  values: (number | null)[];
}

/** Keeps the last run of each `seconds`. */
export function lastOfEach(runs: readonly RunValues[], seconds: number): RunValues[] {
  const bucket = ({ at }: RunValues) => Math.floor(at / seconds);
  return runs.filter((run, n) => {
    const next = runs[n + 1];
    return !next || bucket(next) !== bucket(run);
  });
}

/**
 * The points of the `n`th series. Where runs are missing for more than three times the usual distance, and more than
 * `least` seconds, a null stands between them.
 */
export function pointsOf(runs: readonly RunValues[], n: number, least: number): Points {
  const points: Points = { at: [], last: [] };
  const distances = runs.slice(1).map(({ at }, m) => at - (runs[m]?.at ?? at));
  const usual = distances.toSorted((a, b) => a - b)[distances.length >> 1] ?? 0;
  const longest = Math.max(3 * usual, least);
  for (const [m, { at, values }] of runs.entries()) {
    if (m > 0 && (distances[m - 1] ?? 0) > longest) {
      points.at.push((runs[m - 1]?.at ?? at) + Math.max(usual, 1));
      points.last.push(null);
    }
    points.at.push(at);
    points.last.push(values[n] ?? null);
  }
  return points;
}

/** What runs measured of the `n`th series in each span of `seconds`, by the span's first second. */
export function summarizeSpans(runs: readonly RunValues[], n: number, seconds: number): Map<number, Summary> {
  const values = runs.flatMap((run) => {
    const value = run.values[n] ?? null;
    return value === null ? [] : [{ at: run.at, value }];
  });
  const summaries = new Map<number, Summary>();
  for (const [at, of] of Map.groupBy(values, (each) => each.at - (each.at % seconds))) {
    const numbers = of.map(({ value }) => value);
    summaries.set(at, {
      minimum: Math.min(...numbers),
      maximum: Math.max(...numbers),
      mean: numbers.reduce((sum, value) => sum + value, 0) / numbers.length,
      last: numbers.at(-1) ?? 0,
    });
  }
  return summaries;
}

/** Joins hours to days. */
export function joinSummaries(hours: ReadonlyMap<number, Summary>, seconds: number): Map<number, Summary> {
  const joined = new Map<number, Summary>();
  const all = [...hours].toSorted(([a], [b]) => a - b);
  for (const [at, of] of Map.groupBy(all, ([hour]) => hour - (hour % seconds))) {
    const own = of.map(([, summary]) => summary);
    joined.set(at, {
      minimum: Math.min(...own.map(({ minimum }) => minimum)),
      maximum: Math.max(...own.map(({ maximum }) => maximum)),
      mean: own.reduce((sum, { mean }) => sum + mean, 0) / own.length,
      last: own.at(-1)?.last ?? 0,
    });
  }
  return joined;
}

/** The points from the first to the last span; a span without a value is null. */
export function spread(summaries: ReadonlyMap<number, Summary>, seconds: number): Summaries {
  const points: Summaries = { at: [], last: [], minimum: [], maximum: [], mean: [] };
  if (summaries.size === 0) return points;
  const times = [...summaries.keys()];
  const last = Math.max(...times);
  for (let at = Math.min(...times); at <= last; at += seconds) {
    const summary = summaries.get(at);
    points.at.push(at);
    points.last.push(summary?.last ?? null);
    points.minimum.push(summary?.minimum ?? null);
    points.maximum.push(summary?.maximum ?? null);
    points.mean.push(summary?.mean ?? null);
  }
  return points;
}
