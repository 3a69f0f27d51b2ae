import { expect, test } from 'vitest';
import { findJump } from './jump.ts';

const hours = (...milliseconds: number[]) =>
  milliseconds.map((time, hour) => ({ at: hour * 3_600, calls: 10, seconds: time / 100 }));

test.each<[string, number[], number | null]>([
  ['nothing is known', [], null],
  ['it stays as it was', [3, 3.1, 2.9, 3, 3.2, 3, 2.8], null],
  ['one hour was slow', [3, 3, 3, 3, 90, 3, 3, 3], null],
  ['it became slower', [3, 3, 3.2, 3, 12, 11, 12, 12], 4],
  ['it became faster', [12, 11, 12, 12, 3, 3, 3, 3], 4],
  ['the last two hours are too few', [3, 3, 3, 3, 3, 12, 12], null],
  ['it grew slowly', [1, 1.3, 1.7, 2.2, 2.9, 3.7, 4.8], null],
])('when %s', (_, times, place) => {
  expect(findJump(hours(...times))?.at).toBe(place === null ? undefined : place * 3_600);
});

test('a jump has the usual time of a call before and after it', () => {
  expect(findJump(hours(3, 3, 4, 12, 12, 13))).toEqual({ at: 3 * 3_600, before: 0.003, after: 0.012 });
});
