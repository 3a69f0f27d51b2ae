import { expect, test } from 'vitest';
import { MOST_ATTEMPTS, secondsToRetry } from './retry-schedule.ts';

test('the pauses are those of the specification, and the tenth attempt is the last', () => {
  expect(MOST_ATTEMPTS).toBe(10);
  const hours = [5 / 3_600, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24];
  for (const [at, each] of hours.entries()) {
    expect(secondsToRetry(at + 1, null, 0.5)).toBeCloseTo(each * 3_600);
    expect(secondsToRetry(at + 1, null, 0)).toBeCloseTo(each * 3_240);
    expect(secondsToRetry(at + 1, null, 1)).toBeCloseTo(each * 3_960);
  }
  expect(secondsToRetry(10, null)).toBeNull();
  expect(secondsToRetry(10, 60)).toBeNull();
});

test('Retry-After makes a pause longer, up to a day, and never shorter', () => {
  expect(secondsToRetry(1, 120, 0.5)).toBe(120);
  expect(secondsToRetry(1, 9_999_999, 0.5)).toBe(86_400);
  expect(secondsToRetry(3, 1, 0.5)).toBe(1_800);
  expect(secondsToRetry(1, -5, 0.5)).toBe(5);
});
