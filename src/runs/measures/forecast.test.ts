import { describe, expect, test } from 'vitest';
import { forecast, type Point } from './forecast.ts';
import { GROWING, SILENT, synthesize } from './synthetic-series-fixture.ts';

const SERIES_A_SHAPE = 60;
const DAY_S = 86_400;
const HOUR_S = 3_600;
const START = 1_800_000_000;

const secondsOf = (time: string | null) => (time === null ? Infinity : Date.parse(time) / 1_000);

/** The answers for synthetic series of a shape: whether the series was full, and grew, within the intervals. */
function answersFor(shape: Parameters<typeof synthesize>[0]) {
  return Array.from({ length: SERIES_A_SHAPE }, (_, n) => {
    const series = synthesize(shape, 7_919 * (n + 1));
    const answer = forecast(series.points, series);
    if (answer === null) return [];
    const full = series.full() ?? Infinity;
    const { full_earliest: earliest, full_latest: latest, per_day_low, per_day_high } = answer;
    return {
      isRight: secondsOf(earliest) <= full + HOUR_S && full - HOUR_S <= secondsOf(latest),
      isRightGrowth: per_day_low <= 1 + 1e-9 && per_day_high >= 1 - 1e-9,
    };
  }).flat();
}

describe('on synthetic series, a forecast', () => {
  test('is right within its interval in at least 90 % of the cases, and answers in most', () => {
    const answers = Object.entries(GROWING).map(([name, shape]) => ({ name, answers: answersFor(shape) }));
    for (const { name, answers: some } of answers) {
      expect.soft(some.length / SERIES_A_SHAPE, `answered for ${name}`).toBeGreaterThan(0.85);
      expect.soft(shareOf(some, 'isRight'), `right for ${name}`).toBeGreaterThanOrEqual(0.9);
      expect.soft(shareOf(some, 'isRightGrowth'), `growth right for ${name}`).toBeGreaterThanOrEqual(0.9);
    }
    const all = answers.flatMap(({ answers: some }) => some);
    expect(all.length).toBeGreaterThan(500);
    expect(shareOf(all, 'isRight')).toBeGreaterThanOrEqual(0.95);
  });

  test.for(Object.entries(SILENT))('is not made: %s', ([name, shape]) => {
    // A random walk rises for a while by chance, in as many cases as a 95 % interval lets pass.
    const most = name === 'random walk' ? 0.05 : 0;
    expect(answersFor(shape).length / SERIES_A_SHAPE).toBeLessThanOrEqual(most);
  });
});

function shareOf<Key extends string>(answers: Record<Key, boolean>[], key: Key): number {
  return answers.filter((answer) => answer[key]).length / answers.length;
}

/** An hourly value that grows by 0.24 a day from 10, for `days` days. */
const line = (days: number): Point[] =>
  Array.from({ length: days * 24 }, (_, hour) => ({ at: START + hour * HOUR_S, value: 10 + hour / 100 }));
const endOf = (points: Point[]) => points.at(-1)?.at ?? 0;

describe('of a line, a forecast', () => {
  const points = line(10);
  const now = endOf(points);
  const last = points.at(-1)?.value ?? 0;

  test('says when it reaches the limit', () => {
    const answer = forecast(points, { limit: last + 24, now });
    expect(answer?.per_day).toBeCloseTo(0.24);
    const inDays = (time: string | null | undefined) => (secondsOf(time ?? null) - now) / DAY_S;
    expect(inDays(answer?.full_at)).toBeCloseTo(100, 3);
    expect(inDays(answer?.full_earliest)).toBeCloseTo(98, -1);
    expect(inDays(answer?.full_latest)).toBeCloseTo(102, -1);
  });

  test('is only the growth if there is no limit', () => {
    expect(forecast(points, { limit: null, now })).toEqual({
      per_day: expect.closeTo(0.24),
      per_day_low: expect.closeTo(0.24),
      per_day_high: expect.closeTo(0.24),
      full_at: null,
      full_earliest: null,
      full_latest: null,
    });
  });

  test.for([
    ['is full', { limit: last, now }],
    ['is full in more than three years', { limit: last + 0.24 * 1_100, now }],
    ['was last measured two days ago', { limit: last + 24, now: now + 2 * DAY_S }],
    ['has no number as its limit', { limit: Number.NaN, now }],
  ] as const)('is not made when it %s', ([, options]) => {
    expect(forecast(points, options)).toBeNull();
  });

  test('does not read values of the future, and none that is not finite', () => {
    const odd = [
      { at: START - 1, value: Number.NaN },
      ...points,
      { at: now + HOUR_S, value: 1e9 },
      { at: now + 2 * HOUR_S, value: Infinity },
    ];
    expect(forecast(odd, { limit: last + 24, now })).toEqual(forecast(points, { limit: last + 24, now }));
  });

  test('is not made of the largest numbers', () => {
    const huge = points.map(({ at }, n) => ({ at, value: n % 2 === 0 ? -1.7e308 : 1.7e308 }));
    expect(forecast(huge, { limit: Number.MAX_VALUE, now })).toBeNull();
  });
});

test('a forecast says null for the latest time when that is more than three years away', () => {
  const points = line(10).map(({ at, value }, n) => ({ at, value: value + 0.05 * Math.sin(n / 20) }));
  const answer = forecast(points, { limit: 250, now: endOf(points) });
  expect(answer).toMatchObject({ full_at: expect.any(String), full_latest: null });
});

test('a forecast takes less than 2 ms for 30 days of hours', () => {
  const points = line(30);
  const took = Array.from({ length: 100 }, () => {
    const started = performance.now();
    forecast(points, { limit: 1_000, now: endOf(points) });
    return performance.now() - started;
  });
  expect(Math.min(...took)).toBeLessThan(2); // the quickest: whatever else the machine does
});
