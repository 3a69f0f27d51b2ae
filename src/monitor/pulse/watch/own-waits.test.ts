import { expect, test } from 'vitest';
import { limitWaits, NO_WAITS } from './own-waits.ts';
import { CALM } from './reading-fixture.ts';

const waiting = (pid: number, seconds: number, lock = 'metadata') => ({
  ...CALM,
  waits: [{ pid, blockers: [1], seconds, lock, relation: null }],
});

/** Readings at seconds; returns how long the first wait of each lasted. */
function limitedSeconds(readings: readonly [number, typeof CALM][]) {
  let seen = NO_WAITS;
  return readings.map(([second, reading]) => {
    const limited = limitWaits(seen, reading, second * 1_000);
    ({ seen } = limited);
    return limited.reading.waits[0]?.seconds;
  });
}

test('a statement that ran for an hour before it waits has waited since the last reading without it', () => {
  expect(
    limitedSeconds([
      [0, CALM],
      [10, waiting(2, 3_600)],
      [20, waiting(2, 3_610)],
      [30, CALM], // one reading misses it
      [40, waiting(2, 3_630)],
      [50, CALM],
      [60, CALM],
      [70, waiting(2, 3_660)],
    ]),
  ).toEqual([undefined, 11, 21, undefined, 41, undefined, undefined, 11]);
});

test('a shorter wait, one of the first reading, and one that the server times are as the server says', () => {
  expect(
    limitedSeconds([
      [0, waiting(2, 600)],
      [10, waiting(2, 610)],
    ]),
  ).toEqual([600, 610]);
  expect(
    limitedSeconds([
      [0, CALM],
      [10, waiting(2, 3)],
      [11, waiting(2, 4)],
      [12, waiting(3, 3_600, 'row')],
    ]),
  ).toEqual([undefined, 3, 4, 3_600]);
});
