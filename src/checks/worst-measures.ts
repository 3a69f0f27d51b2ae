import type { FaultMeasure, Measure } from './measure.ts';

/** The most objects whose values a check reports in a run (for a database, or the server): each is a series in the store. */
export const MEASURED_OBJECTS = 5;

/** What a value is called and compared with. */
export type Scale = Omit<Measure, 'object' | 'value'>;

/** A value that crosses its thresholds from below: from a threshold on it is a fault. */
export function atLeast(metric: string, warning: number | null, critical: number | null = null): Scale {
  return { metric, operator: '>=', warning, critical };
}

/** A value that crosses its thresholds from above: down from a threshold it is a fault. */
export function atMost(metric: string, warning: number | null, critical: number | null = null): Scale {
  return { metric, operator: '<=', warning, critical };
}

/** A value that is compared with nothing. */
export function uncompared(metric: string): Scale {
  return { metric, operator: null, warning: null, critical: null };
}

/** The worst five of a check's values of one metric, worst first; those that are compared with nothing come last. */
export function worstOf(measures: readonly Measure[]): Measure[] {
  return measures
    .filter(({ value }) => Number.isFinite(value))
    .toSorted((a, b) => {
      if ((a.operator === null) !== (b.operator === null)) return a.operator === null ? 1 : -1;
      return a.operator === '<=' ? a.value - b.value : b.value - a.value;
    })
    .slice(0, MEASURED_OBJECTS);
}

/** How many objects have the fault, in the whole database or server: one is enough. */
export function countOf(metric: string, value: number): Measure {
  return { ...atLeast(metric, 1), object: null, value };
}

/**
 * The highest value of a server in every run, 0 if it has none, and the worst objects from 90 % of the warning threshold
 * on. Sessions come and go: if every one were reported, the store would fill with series of a few values.
 */
export function listHighest(scale: Scale, values: readonly Pick<Measure, 'object' | 'value'>[]): Measure[] {
  const measures = values.map(({ object, value }) => ({ ...scale, object, value }));
  return [
    { ...scale, object: null, value: Math.max(0, ...measures.map(({ value }) => value)) },
    ...worstOf(measures.filter(({ value }) => scale.warning !== null && value >= 0.9 * scale.warning)),
  ];
}

/** The number that a fault comes from: the value, and the gravest of its thresholds that it crosses. Throws if it has none. */
export function faultMeasure(measure: Measure): FaultMeasure {
  const { metric, value, operator, warning, critical } = measure;
  const threshold = crosses(measure, critical) ? critical : warning;
  if (operator === null || threshold === null) throw new TypeError(`${metric} has no threshold.`);
  return { metric, value, operator, threshold };
}

/** Whether a value has crossed a threshold; not if there is none. */
export function crosses(
  { value, operator }: Pick<Measure, 'value' | 'operator'>,
  threshold: number | null,
): boolean {
  if (threshold === null || operator === null) return false;
  return operator === '>=' ? value >= threshold : value <= threshold;
}
