/** The values of a series, oldest first, in Unix seconds; null = no value. As in the answer of `/history`. */
export interface Points {
  at: readonly number[];
  last: readonly (number | null)[];
  /** Only if a point stands for an hour or a day. */
  minimum?: readonly (number | null)[];
  maximum?: readonly (number | null)[];
  mean?: readonly (number | null)[];
  resolution?: 'run' | 'five_minutes' | 'hour' | 'day';
  /** The usual distance between values in seconds; by default the most common one. */
  usual?: number;
}

/** A value of a {@link Line}; null is a gap, undefined leaves the line as it is, because another line has a value there. */
type Value = number | null | undefined;

/** One line of a chart: the values, and their lowest and highest if a point stands for several runs. */
export interface Line {
  values: Value[];
  low: Value[] | null;
  high: Value[] | null;
}

/** Lines over common times. */
export interface Columns {
  at: number[];
  lines: Line[];
}

const STEPS = { run: 0, five_minutes: 300, hour: 3_600, day: 86_400 };

/** The most common distance between values, in seconds; at least that of the resolution. */
function usualDistance(times: readonly number[], resolution: Points['resolution']): number {
  const distances = times.slice(1).map((time, index) => time - (times[index] ?? time));
  const middle = distances.toSorted((a, b) => a - b)[Math.floor((distances.length - 1) / 2)] ?? 0;
  return Math.max(middle, STEPS[resolution ?? 'run']);
}

type Point = [at: number, value: number | null, low: number | null, high: number | null];

/**
 * The points of a series, with a null in every gap. A distance of more than 2.5 usual ones is a gap, because nothing was
 * measured there; so is a null, unless the values are as far apart as usual: a check every two hours has no value in
 * every other hour.
 */
function withGaps({ at, last, mean, minimum, maximum, resolution, usual: given }: Points): Point[] {
  const shown = mean ?? last;
  const valued = at.flatMap((time, index) =>
    typeof shown[index] === 'number' ? [[time, index] as const] : [],
  );
  const usual =
    given ??
    usualDistance(
      valued.map(([time]) => time),
      resolution,
    );
  return valued.flatMap(([time, index], place) => {
    const value = shown[index] ?? null;
    const point: Point = [time, value, minimum?.[index] ?? value, maximum?.[index] ?? value];
    const [before, beforeIndex] = valued[place - 1] ?? [time, index - 1];
    const isGap = time - before > (index - beforeIndex > 1 ? 1.4 : 2.5) * usual;
    return isGap ? [[(before + time) / 2, null, null, null] as Point, point] : [point];
  });
}

/** The lines of several series over common times. */
export function columnsOf(series: readonly Points[]): Columns {
  const points = series.map(withGaps);
  const at = [...new Set(points.flatMap((line) => line.map(([time]) => time)))].sort((a, b) => a - b);
  return {
    at,
    lines: points.map((line, index) => {
      const column = (place: 1 | 2 | 3): Value[] => {
        const found = new Map(line.map((point) => [point[0], point[place]]));
        return line.length === at.length
          ? line.map((point) => point[place])
          : at.map((time) => found.get(time));
      };
      const isBand = series[index]?.minimum !== undefined && series[index]?.maximum !== undefined;
      return { values: column(1), low: isBand ? column(2) : null, high: isBand ? column(3) : null };
    }),
  };
}

/** Each line on top of those before it: the last one is the sum of all. */
export function stack({ at, lines }: Columns): Columns {
  const sums = at.map(() => 0);
  const stacked = lines.map(({ values }): Line => {
    const onTop = values.map((value, index) => {
      if (typeof value !== 'number') return value;
      sums[index] = (sums[index] ?? 0) + value;
      return sums[index];
    });
    return { values: onTop, low: null, high: null };
  });
  return { at, lines: stacked };
}

/** The index of the time that is nearest to `time`; -1 if there is none. */
export function nearest(at: readonly number[], time: number): number {
  let [low, high] = [0, at.length - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((at[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  const isBefore = low > 0 && time - (at[low - 1] ?? 0) < (at[low] ?? 0) - time;
  return at.length === 0 ? -1 : isBefore ? low - 1 : low;
}

/** The value of a line at an index, or the nearest one that it has, unless a gap is there. */
export function valueAt(at: readonly number[], { values }: Line, index: number): number | null {
  if (values[index] !== undefined || index < 0) return values[index] ?? null;
  const own = at.flatMap((time, place) => (values[place] === undefined ? [] : [[time, place] as const]));
  const place = nearest(
    own.map(([time]) => time),
    at[index] ?? 0,
  );
  return values[own[place]?.[1] ?? -1] ?? null;
}

/** The lowest, highest and last value of a line; null if it has none. */
export function extent({
  values,
  low,
  high,
}: Line): { minimum: number; maximum: number; last: number } | null {
  let [minimum, maximum, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
  values.forEach((value, index) => {
    if (typeof value !== 'number') return;
    minimum = Math.min(minimum, low?.[index] ?? value);
    maximum = Math.max(maximum, high?.[index] ?? value);
    last = value;
  });
  return Number.isNaN(last) ? null : { minimum, maximum, last };
}

/** A value that a chart marks with a line. */
export interface Threshold {
  label: string;
  value: number;
  level: 'warning' | 'critical' | 'limit';
}

/**
 * The value axis. It begins at 0 unless the values change by little, and has the thresholds that are not far above. A
 * ratio ends at 1.
 */
export function valueRange(
  lines: readonly Line[],
  thresholds: readonly Threshold[],
  isRatio: boolean,
): [from: number, to: number] {
  const extents = lines.flatMap((line) => extent(line) ?? []);
  if (extents.length === 0) return [0, 1];
  const lowest = Math.min(...extents.map(({ minimum }) => minimum));
  const highest = Math.max(...extents.map(({ maximum }) => maximum));
  const shown = thresholds.map(({ value }) => value).filter((value) => isNear(value, lowest, highest));
  const from = Math.min(lowest, ...shown);
  const to = Math.max(highest, ...shown);
  const isFlat = from > 0 && from > 0.6 * to;
  const room = to === from ? Math.abs(to) * 0.05 : (to - from) * 0.1;
  const top = to + (room || (isRatio ? 0.01 : 1));
  return [isFlat ? Math.max(0, from - room) : Math.min(0, from), isRatio && to <= 1 ? Math.min(1, top) : top];
}

/** A threshold far from the values would leave them no room. */
function isNear(threshold: number, lowest: number, highest: number): boolean {
  return (
    threshold <= 3 * highest && threshold >= Math.min(0, lowest) && (lowest <= 0 || threshold >= lowest / 3)
  );
}
