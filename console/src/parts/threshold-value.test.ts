import { expect, test } from 'vitest';
import { thresholdText } from './threshold-value.ts';

test.each([
  [0.1, 'ratio', '10 %'],
  [300, 'count', '300'],
  [50, 'milliseconds', '50 ms'],
  [1, 'days', '1 day'],
  [5, 'per_minute', '5 a minute'],
  [16, 'gigabytes', '16 GB'],
] as const)('%d %s', (value, unit, text) => {
  expect(thresholdText(value, unit)).toBe(text);
});
