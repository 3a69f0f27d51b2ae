import type { Unit } from '../../../../src/vocabulary/units.ts';
import { local } from '../time.tsx';
import { type Columns, extent, type Line, type Points, type Threshold, valueAt } from './chart-data.ts';
import { valueText, valueTextBeside } from './value-text.ts';

const UTC_DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** The time of a point: `21 Nov 2026, 18:20`; a day (UTC) where the point stands for one. `at` in Unix seconds. */
export function pointTime(at: number, resolution: Points['resolution']): string {
  const date = new Date(at * 1_000);
  if (resolution === 'day') return `${UTC_DAY.format(date)} (UTC day)`;
  return `${local(date)}${resolution === 'hour' ? ' (hour)' : ''}`;
}

/** The value of a line at an index, with its band: `64 % (52 % to 70 %)`; `no value` in a gap. */
export function lineText(
  at: readonly number[],
  line: Line,
  index: number,
  unit: Unit,
  largest?: number,
): string {
  const text = (number: number) => textIn(number, unit, largest);
  const value = valueAt(at, line, index);
  if (value === null) return 'no value';
  const [low, high] = [line.low?.[index], line.high?.[index]];
  const isBand = typeof low === 'number' && typeof high === 'number' && low !== high;
  return isBand ? `${text(value)} (${text(low)} to ${text(high)})` : text(value);
}

/** The last value of a line, with its unit. */
export function lastText(line: Line, unit: Unit, largest?: number): string {
  const found = extent(line);
  return found ? textIn(found.last, unit, largest) : 'no value';
}

/** In the unit of `largest`, so that the values of a card can be compared; without it, in its own. */
function textIn(value: number, unit: Unit, largest: number | undefined): string {
  return largest === undefined ? valueText(value, unit) : valueTextBeside(value, unit, largest);
}

/** The largest value that a card shows, at an index or of the last ones; undefined for one line. */
export function findLargest({ at, lines }: Columns, index: number | null): number | undefined {
  if (lines.length < 2) return undefined;
  const values = lines.map((line) => (index === null ? extent(line)?.last : valueAt(at, line, index)) ?? 0);
  return Math.max(...values.map(Math.abs));
}

/** A text alternative: minimum, maximum and last value, and the thresholds. */
export function summaryText(
  { lines }: Columns,
  labels: readonly string[],
  unit: Unit,
  thresholds: readonly Threshold[],
): string {
  const parts = lines.map((line, index) => {
    const found = extent(line);
    const label = lines.length > 1 ? `${labels[index]}: ` : '';
    if (!found) return `${label}No value.`;
    const [minimum, maximum, last] = [found.minimum, found.maximum, found.last].map((value) =>
      valueText(value, unit),
    );
    if (line.values.filter((value) => typeof value === 'number').length === 1)
      return `${label}One value: ${last}.`;
    if (found.minimum === found.maximum) return `${label}Always ${last}.`;
    return label
      ? `${label}${minimum} to ${maximum}, last ${last}.`
      : `Minimum ${minimum}, maximum ${maximum}, last ${last}.`;
  });
  return [...parts, thresholdText(thresholds, unit)].filter((part) => part !== '').join(' ');
}

/** `Warning at 80 %, critical at 95 %.`; '' without thresholds. */
function thresholdText(thresholds: readonly Threshold[], unit: Unit): string {
  const words = thresholds.map(({ label, value }) => `${label} at ${valueText(value, unit)}`).join(', ');
  return words && `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
