import { titleOf } from '../../checks/catalogue.ts';
import { vitalTitle } from '../../checks/vitals/engine-vitals.ts';
import { metricWords } from '../../platform/text/metric-words.ts';
import { type Unit, unitOf } from '../../vocabulary/units.ts';

/** Adds to a series its title and unit for members. The title is that of its check or, for a vital sign, its own. */
export function named<Series extends { check_id: string; metric: string }>(
  series: Series,
): Series & { title: string; unit: Unit } {
  const { check_id, metric } = series;
  // The check or vital of an old series may no longer exist.
  const title = (check_id === '' ? vitalTitle(metric) : titleOf(check_id)) ?? metricWords(metric);
  return { ...series, title, unit: unitOf(metric) };
}
