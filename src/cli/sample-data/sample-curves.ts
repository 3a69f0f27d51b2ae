import type { SeriesValue } from '../../checks/measure.ts';
import { randomNumber } from './sample-random.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const NOISE_S = 300;

/** A value at an instant, in Unix seconds; null = not measured then. */
export type Curve = (at: number) => number | null;

/** A span of time in Unix seconds: including `from`, without `to`. */
export interface Span {
  from: number;
  to: number;
}

/** A series of sample data: what it is called and compared with, and its values. */
export interface SampleSeries extends Omit<SeriesValue, 'value'> {
  curve: Curve;
}

/** The curves that several series of a connection share. */
export interface Course {
  seed: number;
  /** A number from 0 to 1 of the connection. */
  vary: (n: number) => number;
  /** Users' work: `value` at the end. While a fault lasts, it is multiplied by `slowdown`. */
  work: (value: number, n: number, slowdown: number) => Curve;
  /** The worst of the usual value and of the faults that come from this metric. */
  worst: (metric: string, usual: Curve) => Curve;
  isSlow: (at: number) => boolean;
  /** The bytes that a leaking table has grown by. */
  leak: Curve;
  end: number;
}

/** How busy the users of a database are, 0.2 to 1: most in the afternoon (UTC) of a working day. */
function busyness(at: number): number {
  const hour = (at % DAY_S) / HOUR_S;
  const weekday = (Math.floor(at / DAY_S) + 4) % 7; // 1970 began on a Thursday
  const day = 0.5 - 0.5 * Math.cos(((hour - 2) / 24) * 2 * Math.PI);
  return 0.2 + 0.8 * day * (weekday === 0 || weekday === 6 ? 0.55 : 1);
}

/** Noise from -0.5 to 0.5 that lasts five minutes, the same for the same seed. */
export function noise(seed: number, at: number): number {
  return randomNumber((seed ^ Math.imul(Math.floor(at / NOISE_S), 0x85ebca6b)) >>> 0) - 0.5;
}

/** A curve of users' work that is `value` at `end`: it follows their day, with some noise. */
export function workCurve(
  value: number,
  seed: number,
  { end, most = Infinity }: { end: number; most?: number },
): Curve {
  const scale = value / busyness(end);
  const last = noise(seed, end);
  return (at) => Math.min(most, scale * busyness(at) * (1 + 0.25 * (noise(seed, at) - last)));
}

/** A curve that only grows, by `perDay` and most by day, and is `value` at `end`. */
export function growthCurve(value: number, perDay: number, end: number): Curve {
  const grown = (at: number) =>
    at / DAY_S - (0.4 / (2 * Math.PI)) * Math.sin(((at / HOUR_S - 2) / 24) * 2 * Math.PI);
  const whole = grown(end);
  return (at) => Math.max(0, value - perDay * (whole - grown(at)));
}
