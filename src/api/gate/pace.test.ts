import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pacer } from './pace.ts';

const BURST = 1_500;
const LONGEST_WAIT_MS = 5_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A pacer with a clock, and the waits that it gave. */
function paced(limit: number) {
  const pacer = new Pacer();
  const key = { limit, pacedUntil: 0 };
  const now = 1_000_000;
  const wait = (at = now) => (pacer.turn(key, at) === null ? 0 : key.pacedUntil - at - burstMs(limit));
  return { pacer, now, wait };
}

const paceOf = (limit: number) => Math.max(50, limit / 6);
const burstMs = (limit: number) => (BURST * 1_000) / paceOf(limit);

test('a burst passes at once, and later requests wait in turn, but none longer than five seconds', () => {
  const { pacer, now, wait } = paced(100);
  for (let n = 0; n < BURST; n += 1) expect(wait()).toBe(0);
  const waits = Array.from({ length: 1_000 }, () => wait());
  expect(waits.slice(0, 3)).toEqual([20, 40, 60]);
  expect(waits.slice(249)).toEqual(Array(751).fill(LONGEST_WAIT_MS));
  // Another key has a burst of its own.
  expect(pacer.turn({ limit: 100, pacedUntil: 0 }, now)).toBeNull();
});

test('while too many requests wait, another one is answered at once instead of occupying its connection', () => {
  const { wait } = paced(100);
  const waits = Array.from({ length: BURST + 4_000 }, () => wait());
  expect(waits.filter((ms) => ms > 0)).toHaveLength(3_000);
  expect(waits.slice(BURST + 3_000)).toEqual(Array(1_000).fill(0));
});

test.each([
  [0, 50],
  [30, 50],
  [300, 50],
  [600, 100],
  [100_000, 100_000 / 6],
])('a key with a limit of %i a minute gets at most %d answers a second over it', (limit, pace) => {
  const key = { limit, pacedUntil: 0 };
  // One connection after the other sends a request, so that one waits at a time.
  let now = 1_000_000;
  let answered = 0;
  for (; now < 1_001_000; answered += 1) {
    const isHeld = new Pacer().turn(key, now) !== null;
    if (isHeld) now = key.pacedUntil - burstMs(limit);
  }
  expect(answered).toBeLessThanOrEqual(BURST + pace + 2);
  expect(answered).toBeGreaterThan(BURST + pace - 2);
});
