import { randomNumbers } from '../../cli/sample-data/sample-random.ts';
import type { Point } from './forecast.ts';

const HOUR_S = 3_600;
/** The time of every first point. */
const START = 1_800_000_000;
const DAYS_AHEAD = 4 * 365;

/** A synthetic series: its history, a limit, and when it really reaches that (Unix seconds, null = never). */
export interface Synthetic {
  points: Point[];
  limit: number;
  now: number;
  /** Lets the series grow on in the same way. */
  full(): number | null;
}

interface Shape {
  /** The next hour's value. */
  value: (hour: number) => number;
  days?: number;
  /** Whether the hour was measured. */
  measured?: (hour: number) => boolean;
}

type Random = () => number;

const gauss = (random: Random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const between = (random: Random, low: number, high: number) => low + (high - low) * random();
const daily = (hour: number) => Math.sin((hour / 12) * Math.PI);
const days = (random: Random) => Math.round(between(random, 5, 40));

/** A sum that grows by `growth` in each hour. */
function sum(growth: (hour: number) => number, start = 0): (hour: number) => number {
  let total = start;
  return (hour) => {
    total += growth(hour);
    return total;
  };
}

/** Series that grow by about 1 a day in the long run. */
export const GROWING: Readonly<Record<string, (random: Random) => Shape>> = {
  linear: (random) => ({ value: (hour) => hour / 24, days: days(random) }),
  noisy: (random) => {
    const noise = between(random, 0.1, 5);
    return { value: (hour) => hour / 24 + noise * gauss(random), days: days(random) };
  },
  'with a daily rhythm': (random) => {
    const height = between(random, 0.1, 5);
    return { value: (hour) => hour / 24 + height * daily(hour) + 0.2 * gauss(random), days: days(random) };
  },
  'on working days': (random) => ({
    value: sum((hour) => (Math.floor(hour / 24) % 7 < 5 ? 7 / 5 / 24 : 0)),
    days: days(random),
  }),
  'by rows of random number': (random) => {
    const spread = between(random, 0.2, 2);
    return {
      value: sum(() => Math.exp(spread * gauss(random) - spread ** 2 / 2) / 24),
      days: days(random),
    };
  },
  'random walk upwards': (random) => {
    const spread = between(random, 0.05, 0.3);
    return { value: sum(() => 1 / 24 + spread * gauss(random)), days: days(random) };
  },
  'faster and slower for days': (random) => {
    let rate = 0;
    return {
      value: sum(() => {
        rate = 0.97 * rate + 0.1 * gauss(random);
        return Math.max(0, 1 + rate) / 24;
      }),
      days: days(random),
    };
  },
  'since some days': (random) => {
    const from = 24 * Math.round(between(random, 5, 25));
    return { value: (hour) => Math.max(0, hour - from) / 24 + 0.02 * gauss(random), days: 30 };
  },
  'after a step': (random) => {
    const from = 24 * between(random, 1, 25);
    return { value: (hour) => hour / 24 + (hour > from ? 20 : 0) + 0.1 * gauss(random), days: 30 };
  },
  'with gaps and spikes': (random) => ({
    value: (hour) => hour / 24 + 0.2 * gauss(random) + (random() < 0.01 ? 3 : 0),
    measured: () => random() > 0.3,
    days: days(random),
  }),
};

/** Series for which there must be no forecast. */
export const SILENT: Readonly<Record<string, (random: Random) => Shape>> = {
  flat: () => ({ value: () => 5 }),
  'flat with noise': (random) => ({ value: () => 5 + gauss(random), days: days(random) }),
  'seasonal by day': (random) => ({
    value: (hour) => 5 * daily(hour) + 0.5 * gauss(random),
    days: days(random),
  }),
  'seasonal by week': (random) => {
    const phase = between(random, 0, 168);
    return { value: (hour) => 5 * daily((hour + phase) / 7) + 0.3 * gauss(random), days: 14 + days(random) };
  },
  'a step': (random) => {
    const from = 24 * between(random, 0, 30);
    return { value: (hour) => (hour > from ? 20 : 0) + 0.1 * gauss(random) };
  },
  'two steps': (random) => {
    const [a, b] = [24 * between(random, 0, 30), 24 * between(random, 0, 30)];
    return { value: (hour) => (hour > a ? 20 : 0) + (hour > b ? 20 : 0) + 0.1 * gauss(random) };
  },
  shrinking: (random) => ({ value: (hour) => 100 - hour / 24 + gauss(random), days: days(random) }),
  'growth that has stopped': (random) => {
    const end = 24 * between(random, 10, 26);
    return { value: (hour) => Math.min(hour, end) / 24 + 0.05 * gauss(random) };
  },
  sawtooth: (random) => {
    const period = 24 * between(random, 1, 20);
    const phase = between(random, 0, period);
    return { value: (hour) => (((hour + phase) % period) / period) * 10 + 0.05 * gauss(random) };
  },
  'too short': (random) => ({ value: (hour) => hour / 24, days: between(random, 0.1, 3) }),
  'random walk': (random) => ({ value: sum(() => gauss(random)), days: days(random) }),
};

/** Makes a series with a limit of 1 to 300 days' growth. */
export function synthesize(shape: (random: Random) => Shape, seed: number): Synthetic {
  const random = randomNumbers(seed);
  const { value, days: length = 30, measured = () => true } = shape(random);
  const hours = Math.round(length * 24);
  const values = Array.from({ length: hours }, (_, hour) => value(hour));
  const points = values
    .map((one, hour) => ({ at: START + hour * HOUR_S, value: one }))
    .filter((_, hour) => hour === hours - 1 || measured(hour));
  const limit = Math.max(...values) + Math.exp(between(random, 0, Math.log(300)));
  return {
    points,
    limit,
    now: START + (hours - 1) * HOUR_S,
    full() {
      for (let hour = hours; hour < hours + DAYS_AHEAD * 24; hour++) {
        if (value(hour) >= limit) return START + hour * HOUR_S;
      }
      return null;
    },
  };
}
