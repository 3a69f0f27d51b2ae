import type { Check } from '../../checks/check.ts';
import type { SeriesValue } from '../../checks/measure.ts';
import { cleanObject, type Sample } from '../outcome.ts';

/** What the samples of a check measured, as it came from the server: {@link cleanMeasures} makes it safe. */
export function collectMeasures({ id }: Pick<Check, 'id'>, samples: Sample[]): SeriesValue[] {
  return samples.flatMap((sample) =>
    'judgement' in sample && 'measures' in sample.judgement
      ? sample.judgement.measures.map((measure) => ({
          ...measure,
          checkId: id,
          database: sample.database,
        }))
      : [],
  );
}

// A run has a few hundred values. The history has single precision, which ends at 3.4e38.
const MEASURES = 1_000;
const LARGEST = 1e30;
const SMALLEST = 1e-30;

/** Makes measures safe to store: at most 1,000, names cleaned and shortened, values that no server can have left out. */
export function cleanMeasures(measures: readonly SeriesValue[]): SeriesValue[] {
  return measures
    .filter(({ value }) => isPossible(value))
    .slice(0, MEASURES)
    .map(({ limit = null, ...measure }) => ({
      ...measure,
      value: Math.abs(measure.value) < SMALLEST ? 0 : measure.value,
      ...(limit !== null && isPossible(limit) && { limit }),
      database: cleanObject(measure.database),
      object: cleanObject(measure.object),
    }));
}

function isPossible(value: number): boolean {
  return Math.abs(value) <= LARGEST; // false for NaN
}
