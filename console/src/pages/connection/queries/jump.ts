import type { QueryHistory } from '../../../../../src/console-api/queries/query-schemas.ts';

type Hour = Pick<QueryHistory['hours'][number], 'at' | 'calls' | 'seconds'>;

/** When the time of a call changed for good. */
export interface Jump {
  /** The beginning of the first hour after it, in Unix seconds. */
  at: number;
  /** The median of the time of a call, in seconds. */
  before: number;
  after: number;
}

/** A side with fewer hours may be an accident. */
const LEAST_HOURS = 3;
/** What differs less is no jump. */
const LEAST_RATIO = 1.5;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The largest lasting change of a query's time of a call; null if there is none. */
export function findJump(hours: readonly Hour[]): Jump | null {
  const means = hours.map(({ seconds, calls }) => Math.max(seconds / Math.max(1, calls), 1e-9));
  let [largest, found]: [number, Jump | null] = [LEAST_RATIO, null];
  for (let place = LEAST_HOURS; place <= means.length - LEAST_HOURS; place++) {
    const [before, after] = [median(means.slice(0, place)), median(means.slice(place))];
    // Both neighbours must show it: otherwise a day's rhythm moves the place.
    const step = (means[place] ?? 1) / (means[place - 1] ?? 1);
    const ratio = Math.min(Math.max(before / after, after / before), Math.max(step, 1 / step));
    if (ratio > largest) [largest, found] = [ratio, { at: hours[place]?.at ?? 0, before, after }];
  }
  return found;
}
