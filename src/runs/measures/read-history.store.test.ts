import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buffersOfReads } from '../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { readAs } from '../../store/read.ts';
import { newConnection, writeRuns } from './measures-fixture.ts';
import { type History, readHistory, resolutionOf } from './read-history.ts';
import { readRunValues } from './read-run-values.ts';
import { rollUp } from './roll-up.ts';
import type { MeasuredConnection } from './store-measures.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore({ fsync: 'off' });
  reader = openPool(store.address, 'console', { max: 2, pipeline: true });
});
afterAll(async () => {
  await reader.end();
  await store.stop();
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const read = async ({ accountId, connectionId }: MeasuredConnection, days: number, to = Date.now()) => {
  const range = { series: [1, 2, 99], from: new Date(to - days * DAY), to: new Date(to) };
  const { result } = await readAs(reader, accountId, (run) =>
    readHistory(run, accountId, connectionId, range),
  );
  return result;
};

/** The points of a series, without gaps: each must be later than the one before it. */
function measured({ at, last }: History): [number, number][] {
  for (const [n, time] of at.entries()) expect(time).toBeGreaterThan(at[n - 1] ?? 0);
  expect(last).toHaveLength(at.length);
  return at.flatMap((time, n) => (last[n] == null ? [] : [[time, last[n]] as [number, number]]));
}

test.each([
  [1, 0, 'run'],
  [1, 3, 'five_minutes'],
  [7, 0, 'five_minutes'],
  [1, 7, 'hour'],
  [8, 0, 'hour'],
  [60, 0, 'hour'],
  [1, 60, 'day'],
  [61, 0, 'day'],
  [400, 0, 'day'],
])('a range of %j days that ended %j days ago has the resolution %j', (days, ago, expected) => {
  const now = 1_800_000_000;
  const last = now - ago * 86_400;
  expect(resolutionOf(last - days * 86_400, last, now)).toBe(expected);
});

describe('every range of a connection that is measured every 7 minutes', () => {
  const now = Date.now();
  const value = (time: number) => Math.floor((time - (now - 66 * DAY)) / MINUTE);
  const times = Array.from(
    { length: (66 * DAY) / (7 * MINUTE) },
    (_, n) => now - (n + 1) * 7 * MINUTE,
  ).reverse();
  const runs = times.map((time) => ({ at: new Date(time), values: [value(time), 5] }));
  let key: MeasuredConnection;

  beforeAll(async () => {
    key = await newConnection(store);
    await writeRuns(store, key, runs);
    const owner = openPool(store.address, 'owner', { max: 1 });
    await owner.query('analyze');
    await owner.end();
  });

  // In this order: it is rolled up further each time.
  test.each([72, 30, 1, 0])(
    'has each value once and no seam, rolled up as of %j hours ago',
    async (behind) => {
      for await (const _ of rollUp(store.writer, { now: new Date(now - behind * HOUR) }));
      for (const [days, unit, least] of [
        [1, 1, 200],
        [7, 300, 1_380],
        [30, 3_600, 719],
        [62, 86_400, 61],
      ] as const) {
        const [rising, steady, missing] = await read(key, days);
        if (!rising || !steady) throw new Error('no history');
        expect(missing?.at ?? []).toEqual([]);
        const points = measured(rising);
        expect(points.length, `${days} days`).toBeGreaterThanOrEqual(least);
        for (const [m, [at, last]] of points.entries()) {
          expect(at % unit).toBe(0);
          const from = value(1_000 * at);
          // The last run of the run's second, five minutes, hour or day.
          expect(last).toBeGreaterThanOrEqual(from - 1);
          expect(last).toBeLessThanOrEqual(from + unit / 60 + 1);
          expect(last).toBeGreaterThan(points[m - 1]?.[1] ?? -1);
          const next = points[m + 1];
          if (next) expect(next[0] - at).toBeLessThanOrEqual(Math.max(unit, 600));
        }
        expect(new Set(measured(steady).map(([, last]) => last))).toEqual(new Set([5]));
        expect(rising.minimum === undefined).toBe(unit < 3_600);
        for (const [m, last] of rising.last.entries()) {
          if (!rising.minimum || last === null) continue;
          expect(rising.minimum[m]).toBeLessThanOrEqual(rising.mean?.[m] ?? Number.NaN);
          expect(rising.mean?.[m]).toBeLessThanOrEqual(rising.maximum?.[m] ?? Number.NaN);
          expect(rising.maximum?.[m]).toBe(last);
        }
      }
    },
    100_000,
  );

  test('a range in the past ends where it was asked to', async () => {
    for (const [days, ago] of [
      [0.5, 3],
      [2, 10],
      [20, 30],
    ] as const) {
      const to = now - ago * DAY;
      const points = measured((await read(key, days, to))[0] as History);
      expect(points.length).toBeGreaterThan(10);
      expect(points.at(-1)?.[0]).toBeLessThanOrEqual(to / 1_000);
      expect(points.at(-1)?.[0]).toBeGreaterThan(to / 1_000 - 86_401);
      expect(points[0]?.[0]).toBeGreaterThan((to - days * DAY) / 1_000 - 86_401);
    }
  });

  test('a reading touches few buffers', async () => {
    const owner = openPool(store.address, 'owner', { max: 1 });
    await owner.query('vacuum analyze');
    await owner.end();
    const buffers = (days: number) =>
      buffersOfReads(store, key.accountId, (run) =>
        readHistory(run, key.accountId, key.connectionId, {
          series: [1],
          from: new Date(Date.now() - days * DAY),
          to: new Date(),
        }),
      );
    expect(await buffers(1)).toBeLessThan(350);
    expect(await buffers(30)).toBeLessThan(60);
    expect(await buffers(396)).toBeLessThan(20);
  });
});

test('a monitor that stood still leaves a gap', async () => {
  const key = await newConnection(store);
  const now = Date.now();
  const runs = [90, 85, 80, 20, 15, 10].map((minutes) => ({
    at: new Date(now - minutes * MINUTE),
    values: [1],
  }));
  await writeRuns(store, key, runs);
  const [history] = await read(key, 1);
  expect(history?.last).toEqual([1, 1, 1, null, 1, 1, 1]);
});

test('a run in the last half second of five minutes, or of a day, belongs to them', async () => {
  const key = await newConnection(store);
  const now = Date.now();
  const day = now - (now % DAY) - 2 * DAY;
  const [first, last] = [new Date(day + 299_700), new Date(day + DAY - 300)];
  await writeRuns(store, key, [
    { at: first, values: [1] },
    { at: last, values: [2] },
    { at: new Date(now), values: [3] },
  ]);
  for await (const _ of rollUp(store.writer));
  const [history] = await read(key, 7);
  expect(measured(history as History).slice(0, 2)).toEqual([
    [day / 1_000, 1],
    [day / 1_000 + 86_100, 2],
  ]);
  const { result } = await readAs(reader, key.accountId, (run) =>
    readRunValues(run, key.accountId, key.connectionId, { from: first, to: last }),
  );
  expect(result).toMatchObject([{ before: 1, after: 2 }]);
});
