import type { Unit } from '../../../../src/vocabulary/units.ts';
import { valueText } from '../../parts/chart/value-text.ts';

/** A text alternative for a line: its values, oldest first, of which there is at least one. */
export function lineText(title: string, values: readonly number[], unit: Unit): string {
  const [lowest, highest, last] = [Math.min(...values), Math.max(...values), values.at(-1) ?? 0].map(
    (value) => valueText(value, unit),
  );
  return lowest === highest ? `${title}: ${last}` : `${title}: ${last}, between ${lowest} and ${highest}`;
}
