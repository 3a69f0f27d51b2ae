import { expect, test } from 'vitest';
import { untilOf } from './until.ts';

const now = new Date(2026, 0, 31, 23, 30);

test('ends after the chosen time', () => {
  const at = (date: Date) => date.toISOString().replace('.000', '');
  expect(untilOf('1h', '', now)).toBe(at(new Date(2026, 1, 1, 0, 30)));
  expect(untilOf('4h', '', now)).toBe(at(new Date(2026, 1, 1, 3, 30)));
  expect(untilOf('morning', '', now)).toBe(at(new Date(2026, 1, 1, 9)));
  expect(untilOf('at', '2026-02-03T07:15', now)).toBe(at(new Date(2026, 1, 3, 7, 15)));
  expect(untilOf('resolved', '', now)).toBeNull();
  // A Saturday; and of a Monday the next one.
  expect(untilOf('monday', '', now)).toBe(at(new Date(2026, 1, 2, 9)));
  expect(untilOf('monday', '', new Date(2026, 1, 2, 8))).toBe(at(new Date(2026, 1, 9, 9)));
});
