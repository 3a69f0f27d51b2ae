import type { RunComparison } from '../../../../../src/console-api/connections/run-schemas.ts';
import { valueText } from '../../../parts/chart/value-text.ts';

type Compared = RunComparison['measures'][number];

/** How much a value changed, as a share of the larger one; 1 if only one run has it. */
function weight({ before, after }: Compared): number {
  if (before === null || after === null) return 1;
  const largest = Math.max(Math.abs(before), Math.abs(after));
  return largest === 0 ? 0 : Math.abs(after - before) / largest;
}

/** The values that differ between two runs, those that changed most first. */
export function changedMeasures(measures: readonly Compared[]): Compared[] {
  return measures
    .filter(({ before, after }) => before !== after)
    .toSorted((one, other) => weight(other) - weight(one) || one.title.localeCompare(other.title));
}

/** `+1.2 MB`; of ratios in percentage points, `-4 points`. Empty if one run has no value. */
export function differenceText({ before, after, unit }: Compared): string {
  if (before === null || after === null) return '';
  const size = valueText(Math.abs(after - before), unit);
  const text = unit === 'ratio' ? size.replace('%', 'points') : size;
  return after > before ? `+${text}` : `-${text}`;
}
