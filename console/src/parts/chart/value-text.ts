import { figure } from '../../../../src/platform/text/figure.ts';
import { valueText } from '../../../../src/platform/text/value-text.ts';
import type { Unit } from '../../../../src/vocabulary/units.ts';

export { valueText };

const TIMES = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800,
  3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000, 864_000, 2_592_000, 8_640_000, 31_536_000,
];

/** The powers of ten with 1, 2 and 5 from `least` on; of two for bytes. */
function steps(unit: Unit): number[] {
  if (unit.startsWith('bytes')) return Array.from({ length: 60 }, (_, power) => 2 ** power);
  const least = unit === 'count' ? 0 : -6;
  return Array.from({ length: 18 }, (_, place) => place + least).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  );
}

/** The distances between the marks of an axis that read well in the unit. */
export function axisSteps(unit: Unit): number[] {
  return unit === 'seconds' ? TIMES : steps(unit);
}

/** What a number of an axis is divided by, and its unit. */
interface Scale {
  factor: number;
  unit: string;
}

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
const TIME_UNITS = [
  { factor: 86_400, unit: ' d' },
  { factor: 3_600, unit: ' h' },
  { factor: 60, unit: ' min' },
  { factor: 1, unit: ' s' },
  { factor: 0.001, unit: ' ms' },
] as const;
const MICROSECONDS = { factor: 0.000_001, unit: ' µs' };

function scaleFor(unit: Unit, largest: number): Scale {
  if (unit === 'ratio') return { factor: 0.01, unit: ' %' };
  if (unit === 'seconds') return TIME_UNITS.find(({ factor }) => largest >= 2 * factor) ?? MICROSECONDS;
  const rate = unit.endsWith('per_second') ? '/s' : '';
  if (!unit.startsWith('bytes')) return { factor: 1, unit: rate };
  const power = Math.min(Math.floor(Math.log2(Math.max(1, largest)) / 10), BYTE_UNITS.length - 1);
  return { factor: 1024 ** power, unit: ` ${BYTE_UNITS[power]}${rate}` };
}

/** A value in the unit of a larger one beside it, with three significant digits or as many as the unit can show: `0.02 MB/s`. */
export function valueTextBeside(value: number, unit: Unit, largest: number): string {
  const { factor, unit: suffix } = scaleFor(unit, largest);
  // Where a value has no unit that changes, its own text is the clearest.
  if (!unit.startsWith('bytes')) return valueText(value, unit);
  const number = value / factor;
  const digits = Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  const text = String(Number(number.toFixed(digits)));
  return `${number !== 0 && text === '0' ? '< 0.01' : text}${suffix}`;
}

const MOST_DECIMALS = 9;

/** The marks of an axis, lowest first: all in one unit, with as many decimals as tell each from its neighbour. */
export function axisTexts(values: readonly number[], unit: Unit): string[] {
  const { factor, unit: suffix } = scaleFor(unit, Math.max(0, ...values.map(Math.abs)));
  const numbers = values.map((value) => value / factor);
  const step = Math.min(...numbers.slice(1).map((value, place) => Math.abs(value - (numbers[place] ?? 0))));
  const isExact = (digits: number) =>
    numbers.every((value) => Math.abs(Number(value.toFixed(digits)) - value) <= step / 100);
  let digits = 0;
  while (digits < MOST_DECIMALS && !isExact(digits)) digits++;
  return numbers.map((value) => {
    const [whole, ...rest] = Math.abs(value).toFixed(digits).split('.');
    return `${value < 0 ? '-' : ''}${[figure(Number(whole)), ...rest].join('.')}${suffix}`;
  });
}
