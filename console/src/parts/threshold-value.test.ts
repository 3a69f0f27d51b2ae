import { expect, test } from 'vitest';
import { THRESHOLD_UNITS } from '../../../src/vocabulary/threshold-units.ts';
import { thresholdFromField, thresholdLabel, thresholdPhrase, thresholdToField } from './threshold-value.ts';

test.each([
  ['warning', 'ratio', 'Warning at (%)'],
  ['warning_seconds', 'seconds', 'Warning at (s)'],
  ['critical_bytes', 'bytes', 'Critical at (MB)'],
  ['critical_age', 'ratio', 'Critical at (%)'],
  ['info', 'count', 'Info at'],
  ['warning_transactions', 'count', 'Warning at (transactions)'],
  ['warning_bytes_per_hour', 'bytes_per_hour', 'Warning at (MB an hour)'],
  ['minimum_rows', 'count', 'Minimum rows'],
  ['minimum_ms', 'milliseconds', 'Minimum (ms)'],
  ['calls_per_day', 'per_day', 'Calls (a day)'],
  ['memory_gb', 'gigabytes', 'Memory (GB)'],
] as const)('the label of %s', (name, unit, label) => {
  expect(thresholdLabel(name, unit)).toBe(label);
});

test.each([
  ['warning', 0.2, 'ratio', 'Warning at 20 %'],
  ['critical_seconds', 120, 'seconds', 'Critical at 2 min'],
  ['warning_transactions', 10_000_000, 'count', 'Warning at 10,000,000 transactions'],
  ['minimum_rows', 10_000, 'count', 'Minimum rows 10,000'],
  ['minimum_bytes', 1_048_576, 'bytes', 'Minimum 1 MB'],
  ['calls_per_day', 50, 'per_day', 'Calls 50 a day'],
  ['info', 300, 'count', 'Info at 300'],
] as const)('%s of %d in words', (name, value, unit, phrase) => {
  expect(thresholdPhrase(name, value, unit)).toBe(phrase);
});

test.each([
  ['', 'count', null],
  [' 0,5 ', 'count', 0.5],
  ['1e3', 'seconds', 1_000],
  ['1,000', 'count', 1_000],
  ['7', 'ratio', 0.07],
  ['29', 'ratio', 0.29],
  ['100', 'bytes', 104_857_600],
  ['-1', 'count', undefined],
  ['2e15', 'count', undefined],
  ['1e12', 'bytes', undefined],
  ['Infinity', 'count', undefined],
  ['many', 'count', undefined],
] as const)('the threshold in %j of %s', (text, unit, value) => {
  expect(thresholdFromField(text, unit)).toBe(value);
});

test('a field gives back the threshold that it shows', () => {
  for (const unit of THRESHOLD_UNITS) {
    for (const value of [0, 0.07, 0.29, 0.333, 1, 5, 12_345, 104_857_600, 262_144_001, 1_099_511_627_776])
      expect(thresholdFromField(thresholdToField(value, unit), unit), `${value} ${unit}`).toBeCloseTo(
        value,
        1,
      );
  }
});
