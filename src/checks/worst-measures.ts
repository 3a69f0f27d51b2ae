import type { FaultMeasure, Measure } from './measure.ts';

/** The most objects whose values a check reports in a run (for a database, or the server): each is a series in the store. */
export const MEASURED_OBJECTS = 5;

/** What a value is called and compared with. */
export type Scale = Omit<Measure, 'object' | 'value'>;

/** The worst five of a check's values, worst first. All have the same metric. */
export function worstOf(measures: readonly Measure[]): Measure[] {
  return measures
    .toSorted((a, b) => (a.operator === '<=' ? a.value - b.value : b.value - a.value))
    .slice(0, MEASURED_OBJECTS);
}

/** How many objects have the fault, in the whole database or server: one is enough. */
export function countOf(metric: string, value: number): Measure {
  return { metric, object: null, value, operator: '>=', warning: 1, critical: null };
}

/**
 * The highest value of a server in every run, 0 if it has none, and the worst objects from 90 % of the warning threshold
 * on. Sessions come and go: if every one were reported, the store would fill with series of a few values.
 */
export function highestOf(scale: Scale, values: readonly Pick<Measure, 'object' | 'value'>[]): Measure[] {
  const measures = values.map((each) => ({ ...scale, ...each }));
  return [
    { ...scale, object: null, value: Math.max(0, ...measures.map(({ value }) => value)) },
    ...worstOf(measures.filter(({ value }) => scale.warning !== null && value >= 0.9 * scale.warning)),
  ];
}

/** The number that a fault comes from: the value, and the gravest of its thresholds that it crosses. Throws if it has none. */
export function faultMeasure({ metric, value, operator, warning, critical }: Measure): FaultMeasure {
  const threshold = critical !== null && crosses(value, operator, critical) ? critical : warning;
  if (operator === null || threshold === null) throw new TypeError(`${metric} has no threshold.`);
  return { metric, value, operator, threshold };
}

/** Whether a value has crossed a threshold. */
export function crosses(value: number, operator: Measure['operator'], threshold: number): boolean {
  return operator === '<=' ? value <= threshold : operator === '>=' && value >= threshold;
}
