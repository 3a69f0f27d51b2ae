import type { Unit } from '../../../../src/vocabulary/units.ts';

export { valueText } from '../../../../src/vocabulary/values/value-text.ts';

const TIMES = [
  ...[
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800,
  ],
  ...[
    3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000, 864_000, 2_592_000, 8_640_000, 31_536_000,
  ],
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
