import { expect, test } from 'vitest';
import { UNITS } from '../../../../src/vocabulary/units.ts';
import { timeMark } from './plot-options.ts';
import { axisSteps, axisTexts, valueText, valueTextBeside } from './value-text.ts';

test('the marks of an axis share a unit, also where it changes within the axis', () => {
  expect(axisTexts([0, 512 * 1024, 1024 ** 2, 1.5 * 1024 ** 2], 'bytes')).toEqual([
    '0.0 MB',
    '0.5 MB',
    '1.0 MB',
    '1.5 MB',
  ]);
  expect(axisTexts([0, 0.5, 1, 1.5], 'seconds')).toEqual(['0 ms', '500 ms', '1,000 ms', '1,500 ms']);
  expect(axisTexts([0, 1_800, 3_600, 5_400, 7_200], 'seconds')).toEqual([
    '0.0 h',
    '0.5 h',
    '1.0 h',
    '1.5 h',
    '2.0 h',
  ]);
  expect(axisTexts([-1, -0.5, 0], 'count')).toEqual(['-1.0', '-0.5', '0.0']);
  expect(axisTexts([5, 5], 'seconds')).toEqual(['5 s', '5 s']);
  expect(axisTexts([0, 0], 'count')).toEqual(['0', '0']);
  expect(axisTexts([], 'ratio')).toEqual([]);
  expect(axisTexts([0.5], 'ratio')).toEqual(['50 %']);
});

test.each(UNITS)('no two marks of an axis of %s are the same', (unit) => {
  for (const step of axisSteps(unit)) {
    for (const start of [0, 7 * step, 96 * step, -3 * step]) {
      const texts = axisTexts(
        [0, 1, 2, 3, 4].map((place) => start + place * step),
        unit,
      );
      expect(new Set(texts).size, `${texts}`).toBe(5);
      const units = new Set(texts.map((text) => text.replace(/^[-0-9.,]+/, '')));
      expect(units.size, `${texts}`).toBe(1);
    }
  }
});

test('marks of the time axis that are less than a minute apart have seconds', () => {
  const noon = Date.UTC(2026, 0, 31, 12) / 1_000;
  const marks = [0, 10, 20, 30, 40, 50, 60].map((after) => timeMark(noon + after, 10));
  expect(new Set(marks).size).toBe(7);
  expect(timeMark(noon, 60)).toMatch(/^\d\d:\d\d/);
});

test('beside a larger value, a value has its unit', () => {
  expect(valueTextBeside(830 * 1024, 'bytes_per_second', 2 * 1024 ** 2)).toBe('0.81 MB/s');
  expect(valueTextBeside(12, 'bytes', 2 * 1024 ** 2)).toBe('< 0.01 MB');
  expect(valueTextBeside(0, 'bytes', 2 * 1024 ** 2)).toBe('0 MB');
  expect(valueTextBeside(300 * 1024 ** 2, 'bytes', 300 * 1024 ** 2)).toBe('300 MB');
  expect(valueTextBeside(0.25, 'ratio', 0.9)).toBe(valueText(0.25, 'ratio'));
});
