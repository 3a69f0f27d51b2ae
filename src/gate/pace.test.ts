import { expect, test } from 'vitest';
import { GateFull } from './gate-errors.ts';
import { Pacer } from './pace.ts';

const BURST = 1_500;

test('a burst passes at once, later requests wait their turn, and a request that would wait too long is rejected', async () => {
  const pacer = new Pacer();
  const key = { limit: 100, pacedUntil: 0 };
  const now = 1_000_000;
  for (let n = 0; n < BURST; n += 1) expect(pacer.turn(key, now)).toBeNull();
  const waiting: Promise<void>[] = [];
  const refused = () => {
    const turn = pacer.turn(key, now);
    if (turn) waiting.push(turn);
  };
  // 50 a second, for a second and a half.
  for (let n = 0; n < 75; n += 1) refused();
  expect(waiting).toHaveLength(75);
  expect(refused).toThrow(GateFull);
  // Another key has a burst of its own.
  expect(pacer.turn({ limit: 100, pacedUntil: 0 }, now)).toBeNull();
  await Promise.all(waiting);
});

test.each([
  [0, 50],
  [30, 50],
  [300, 50],
  [600, 100],
  [100_000, 100_000 / 6],
])(
  'a key with a limit of %i a minute gets at most %d answers a second over it, from now on',
  (limit, pace) => {
    const pacer = new Pacer();
    const key = { limit, pacedUntil: 0 };
    let answered = 0;
    // Sends twenty times the allowed rate, each millisecond for a minute. Only requests that pass at once are counted.
    for (let now = 1_000; now < 61_000; now += 1) {
      for (let n = 0; n < pace / 50; n += 1) {
        const before = key.pacedUntil;
        const free = Math.max(before, now) + 1_000 / pace - now <= (BURST * 1_000) / pace;
        if (free && pacer.turn(key, now) === null) answered += 1;
      }
    }
    expect(answered).toBeLessThanOrEqual(BURST + 60 * pace + 1);
    expect(answered).toBeGreaterThan(60 * pace - 1);
  },
);
