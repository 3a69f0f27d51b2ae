import { expect, test } from 'vitest';
import { columnsOf, extent, nearest, type Points, valueAt, valueRange } from './chart-data.ts';

const run = (at: number[], last: (number | null)[] = at.map(() => 1)): Points => ({
  at,
  last,
  resolution: 'run',
});

test('values at usual distances are one line', () => {
  expect(columnsOf([run([0, 60, 121, 180])])).toEqual({
    at: [0, 60, 121, 180],
    lines: [{ values: [1, 1, 1, 1], low: null, high: null }],
  });
});

test('a time without runs is a gap', () => {
  const { at, lines } = columnsOf([run([0, 60, 120, 600, 660])]);
  expect(at).toEqual([0, 60, 120, 360, 600, 660]);
  expect(lines[0]?.values).toEqual([1, 1, 1, null, 1, 1]);
});

test('with a usual distance, values nearer than it are one line too', () => {
  const mixed = { at: [0, 86_400, 172_800, 172_860, 172_920, 172_980, 500_000], last: [1, 1, 1, 1, 1, 1, 1] };
  expect(columnsOf([mixed]).at).toHaveLength(10);
  expect(columnsOf([{ ...mixed, usual: 0.8 * 86_400 }]).lines[0]?.values).toEqual([
    1,
    1,
    1,
    1,
    1,
    1,
    null,
    1,
  ]);
});

test('a run without a value is a gap', () => {
  const { lines } = columnsOf([run([0, 60, 120, 180, 240], [5, 6, null, 7, 8])]);
  expect(lines[0]?.values).toEqual([5, 6, null, 7, 8]);
});

test('a check every two hours has no gaps, although every other hour has no value', () => {
  const at = [0, 1, 2, 3, 4, 5, 6].map((hour) => hour * 3_600);
  const values = [1, null, 2, null, 3, null, 4];
  const hours = {
    at,
    last: values,
    mean: values,
    minimum: values,
    maximum: values,
    resolution: 'hour' as const,
  };
  expect(columnsOf([hours]).lines[0]?.values).toEqual([1, 2, 3, 4]);
});

test('an hour stands for its lowest and highest value, and is drawn at the mean', () => {
  const hours: Points = {
    at: [0, 3_600],
    last: [9, 9],
    mean: [5, 6],
    minimum: [1, 2],
    maximum: [10, 11],
    resolution: 'hour',
  };
  const { lines } = columnsOf([hours]);
  expect(lines).toEqual([{ values: [5, 6], low: [1, 2], high: [10, 11] }]);
  expect(lines[0] && extent(lines[0])).toEqual({ minimum: 1, maximum: 11, last: 6 });
});

test('series with other times keep their lines', () => {
  const { at, lines } = columnsOf([run([0, 60, 120], [1, 2, 3]), run([60], [7])]);
  expect(at).toEqual([0, 60, 120]);
  expect(lines.map(({ values }) => values)).toEqual([
    [1, 2, 3],
    [undefined, 7, undefined],
  ]);
});

test('the value at a time is the nearest one of the line, or none in a gap', () => {
  const { at, lines } = columnsOf([run([0, 60, 120, 600, 660], [1, 2, 3, 4, 5]), run([0, 660], [7, 8])]);
  const [first, second] = lines;
  expect(first && valueAt(at, first, 1)).toBe(2);
  expect(first && valueAt(at, first, 3)).toBe(null);
  expect(second && valueAt(at, second, 4)).toBe(8);
});

test.each([
  [[], 5, -1],
  [[10], 5, 0],
  [[10, 20, 30], 14, 0],
  [[10, 20, 30], 16, 1],
  [[10, 20, 30], 99, 2],
])('of %j the nearest to %d is at %d', (at, time, index) => expect(nearest(at, time)).toBe(index));

test('no values have no extent, and an axis', () => {
  const { lines } = columnsOf([run([0, 60], [null, null])]);
  expect(lines[0] && extent(lines[0])).toBe(null);
  expect(valueRange(lines, [], true)).toEqual([0, 1]);
});

const level = (value: number) => ({ label: 'warning', value, level: 'warning' as const });
const lineOf = (...values: number[]) =>
  columnsOf([
    run(
      values.map((_, index) => index * 60),
      values,
    ),
  ]).lines;

test('the axis begins at 0 unless the values change by little', () => {
  expect(valueRange(lineOf(10, 100), [], false)[0]).toBe(0);
  expect(valueRange(lineOf(0.991, 0.995), [], true)[0]).toBeGreaterThan(0.99);
  expect(valueRange(lineOf(5, 5), [], false)).toEqual([4.75, 5.25]);
  expect(valueRange(lineOf(0, 0), [], false)).toEqual([0, 1]);
});

test('the axis has a threshold near the values, and leaves out one that is far away', () => {
  expect(valueRange(lineOf(0.4, 0.6), [level(0.8)], true)[1]).toBeGreaterThan(0.8);
  expect(valueRange(lineOf(1, 2), [level(1_000_000)], false)[1]).toBeLessThan(3);
});

test('a ratio ends at 1', () => expect(valueRange(lineOf(0.5, 0.99), [], true)[1]).toBe(1));
