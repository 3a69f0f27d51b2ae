import { findingId } from '../../../checks/own/own-check.ts';
import type { Course, SampleSeries } from '../sample-curves.ts';
import { OWN_METRIC, SAMPLE_OWN_CHECK } from './sample-own-check.ts';

/** The value of the own check: few orders on usual days, and more each day since its ticket opened. */
export function makeOwnSeries({ work, worst }: Course): SampleSeries {
  const { id, database, operator, warning, critical } = SAMPLE_OWN_CHECK;
  const usual = work(4, 20, 1);
  const value = worst(OWN_METRIC, (at) => Math.min(9, usual(at) ?? 0));
  return {
    checkId: findingId(id),
    metric: OWN_METRIC,
    database: database ?? '',
    object: null,
    operator,
    warning,
    critical,
    limit: critical,
    grows: true,
    curve: (at) => Math.round(value(at) ?? 0),
  };
}
