import { expect, test } from 'vitest';
import { type KeyEntry, replayLimit } from './replay-limit.ts';

const entries = (...list: [number, number][]): KeyEntry[] => list.map(([status, at]) => ({ status, at }));

test('a log that keeps the limit', () => {
  const log = entries([200, 0], [200, 10], [429, 20], [200, 60_000], [200, 60_010], [429, 119_999]);
  expect(replayLimit(log, 2)).toEqual({ count: 2, refused: 2, wrong: 0 });
});

test('one admitted over the limit', () => {
  expect(replayLimit(entries([200, 0], [200, 10], [200, 20]), 2).wrong).toBe(1);
});

test('one refused under the limit', () => {
  expect(replayLimit(entries([200, 0], [429, 20]), 2).wrong).toBe(1);
});

test('a window that begins too early', () => {
  expect(replayLimit(entries([200, 0], [200, 10], [200, 59_000]), 2).wrong).toBe(1);
});
