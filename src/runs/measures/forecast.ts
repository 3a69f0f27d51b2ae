import type { Forecast } from './list-measures.ts';

const DAY_S = 86_400;
/** How many days are used: 30, or the newest 14, 7 or 4 of them if the growth began later. */
const WINDOWS = [30, 14, 7, 4];
const FEWEST_DAYS = 4;
/** How old the newest value may be. */
const STALE_S = 2 * DAY_S;
/** How far ahead a forecast looks. */
const HORIZON_DAYS = 3 * 365;
/** The share of its growth by which the value may once have fallen in 30 days. A sawtooth falls by all of it. */
const FALLEN_SHARE = 0.25;

/** A measured value; `at` is in Unix seconds. */
export interface Point {
  at: number;
  value: number;
}

/** A day of values. The median stands for all, so that a daily rhythm and single spikes cancel out. */
interface Day extends Point {
  lowest: number;
  highest: number;
}

/** Growth in a day: by Theil–Sen, and the standard deviation of a single day's growth, as if days were independent. */
interface Growth {
  perDay: number;
  deviation: number;
  /** On how many days' growth the deviation is based. */
  draws: number;
}

/**
 * Extends the line of up to 30 days of values, oldest first, to `limit`, with 95 % intervals. Without a limit it says only
 * the growth in a day. `now` is in Unix seconds. Null if the values support no forecast: too few, not growing beyond doubt, fallen in between, off the line at the end, already at the
 * limit, or more than three years away from it.
 *
 * The line is by Theil–Sen over the medians of days. Its interval takes the growth of each day as one independent draw
 * (docs/decisions/0063-vitals-and-history.md).
 */
export function forecast(
  points: readonly Point[],
  { limit, now }: { limit: number | null; now: number },
): Forecast | null {
  const days = daysOf(points.filter(({ at, value }) => Number.isFinite(value) && at <= now));
  const last = days.at(-1);
  if (last === undefined || now - last.at > STALE_S) return null;
  const fallen = largestFall(days);
  for (const window of WINDOWS) {
    const used = days.filter(({ at }) => at > last.at - window * DAY_S);
    const [first] = used;
    if (first === undefined || used.length < FEWEST_DAYS) return null;
    const growth = growthOf(used);
    if (growth !== null && fallen <= FALLEN_SHARE * (last.value - first.value)) {
      return extended(growth, used, last, { limit, now });
    }
  }
  return null;
}

/** The last 30 days, counted back from the newest point. Days without a point are left out. */
function daysOf(points: readonly Point[]): Day[] {
  const newest = points.at(-1)?.at ?? 0;
  const byDay = Map.groupBy(points, ({ at }) => Math.floor((newest - at) / DAY_S));
  return [...byDay]
    .filter(([daysAgo]) => daysAgo < 30)
    .map(([, some]) => {
      const values = some.map(({ value }) => value);
      return {
        at: median(some.map(({ at }) => at)),
        value: median(values),
        lowest: Math.min(...values),
        highest: Math.max(...values),
      };
    })
    .toSorted((a, b) => a.at - b.at);
}

/** How far the value has ever been below an earlier one. */
function largestFall(days: readonly Day[]): number {
  let [highest, fall] = [-Infinity, 0];
  for (const { value } of days) {
    highest = Math.max(highest, value);
    fall = Math.max(fall, highest - value);
  }
  return fall;
}

/** The growth of the days; null if it may be 0 or less, or if the newest quarter of the days grew otherwise. */
function growthOf(days: readonly Day[]): Growth | null {
  const slopes = days.flatMap((from, n) => days.slice(n + 1).map((to) => slope(from, to)));
  const perDay = median(slopes);
  const rest = days.slice(1).map((to, n) => slope(days[n] ?? to, to) - perDay);
  const draws = rest.length;
  const variance = sumOf(rest.map((one) => one ** 2)) / (draws - 1);
  const covariance = sumOf(rest.slice(1).map((one, n) => one * (rest[n] ?? 0))) / (draws - 1);
  // Days of fast growth follow each other. Such days say less than independent ones. The estimate is about 2/n too low.
  const persistence = variance === 0 ? 0 : Math.min(0.8, Math.max(0, covariance / variance + 2 / draws));
  const growth = { perDay, draws, deviation: Math.sqrt((variance * (1 + persistence)) / (1 - persistence)) };
  const newest = rest.slice(-Math.max(2, Math.floor(draws / 4)));
  const off = Math.abs(sumOf(newest)) / newest.length;
  const usual = margin({ ...growth, deviation: Math.sqrt(variance) }, newest.length);
  return perDay > margin(growth) && off <= usual ? growth : null;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function slope(from: Point, to: Point): number {
  return ((to.value - from.value) / (to.at - from.at)) * DAY_S;
}

/** Half the 95 % interval of the mean growth: of the past days, or also of `ahead` days that are still to come. */
function margin({ deviation, draws }: Growth, ahead = Infinity): number {
  return studentsT(draws - 1) * deviation * Math.sqrt(1 / draws + 1 / ahead);
}

function extended(
  growth: Growth,
  days: readonly Day[],
  last: Day,
  { limit, now }: { limit: number | null; now: number },
): Forecast | null {
  const { perDay } = growth;
  const range = {
    per_day: perDay,
    per_day_low: perDay - margin(growth),
    per_day_high: perDay + margin(growth),
  };
  if (limit === null) return { ...range, full_at: null, full_earliest: null, full_latest: null };
  const timeAt = (days: number) => new Date(Math.max(now, last.at + days * DAY_S) * 1_000).toISOString();
  const missing = limit - last.value;
  const middle = missing / perDay;
  if (last.highest >= limit || !(middle <= HORIZON_DAYS)) return null;
  // A spike reaches the limit before the line does.
  const peaks = days.map(({ value, highest }) => highest - value).toSorted((a, b) => a - b);
  const peak = peaks[Math.floor(0.9 * (peaks.length - 1))] ?? 0;
  const earliest = reached(missing - peak, (ahead) => perDay + margin(growth, ahead)) ?? middle;
  const latest = reached(limit - last.lowest, (ahead) => perDay - margin(growth, ahead));
  return {
    ...range,
    full_at: timeAt(middle),
    full_earliest: timeAt(earliest),
    full_latest: latest === null ? null : timeAt(latest),
  };
}

/** After how many days the growth has added `missing`; null = not within the horizon. */
function reached(missing: number, meanGrowth: (ahead: number) => number): number | null {
  if (HORIZON_DAYS * meanGrowth(HORIZON_DAYS) < missing) return null;
  let [low, high] = [0, HORIZON_DAYS];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (middle * meanGrowth(middle) < missing) low = middle;
    else high = middle;
  }
  return high;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** The 97.5 % quantile of Student's t, by the expansion of Cornish and Fisher (Abramowitz and Stegun, 26.7.5). */
function studentsT(freedom: number): number {
  const z = 1.959964;
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ];
  return terms.reduce((sum, term, power) => sum + term / freedom ** power, 0);
}
