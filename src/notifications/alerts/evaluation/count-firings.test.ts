import { expect, test } from 'vitest';
import { countFirings } from './count-firings.ts';

const RULE = {
  metric: 'load_active_sessions',
  check_id: null,
  measure: null,
  operator: '>=',
  threshold: 90,
  clear_threshold: null,
  for_seconds: 0,
  for_runs: 1,
} as const;
const points = (...values: (number | null)[]) => values.map((value, minute) => ({ at: minute * 60, value }));

test('it fires once while it holds, and again after it cleared', () => {
  expect(countFirings(points(10, 95, 99, 50, 91), RULE)).toBe(2);
  expect(countFirings(points(10, 20), RULE)).toBe(0);
  expect(countFirings([], RULE)).toBe(0);
});

test('it clears at its own number only', () => {
  expect(countFirings(points(95, 85, 95, 70, 95), { ...RULE, clear_threshold: 80 })).toBe(2);
});

test('it has to hold for a time, and in a row', () => {
  expect(countFirings(points(95, 95, 95), { ...RULE, for_seconds: 120 })).toBe(1);
  expect(countFirings(points(95, 95, 10, 95), { ...RULE, for_seconds: 120 })).toBe(0);
  expect(countFirings(points(95, 10, 95, 95), { ...RULE, for_runs: 2 })).toBe(1);
});

test('what was not measured neither begins nor ends it', () => {
  expect(countFirings(points(95, null, 95), RULE)).toBe(1);
  expect(countFirings(points(95, null, 95), { ...RULE, for_runs: 2 })).toBe(1);
});

test('one that flaps stays open, as the alert of a rule does', () => {
  const flaps = Array.from({ length: 100 }, () => [95, 10]).flat();
  expect(countFirings(points(...flaps), RULE)).toBe(4);
});
