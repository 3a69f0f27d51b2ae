import { expect, test } from 'vitest';
import { makeAlerts } from './write-sample-alerts.ts';

const rule = { threshold: 50, clear_threshold: 55, for_runs: 2 };
const spans = (scores: number[]) =>
  makeAlerts(
    rule,
    scores.map((score, at) => ({ at, score })),
  ).map(({ since, triggered_at, resolved_at, value, worst }) => [
    since,
    triggered_at,
    resolved_at,
    value,
    worst,
  ]);

test.each<[string, number[], (number | null)[][]]>([
  ['a single low run is none', [40, 80, 40, 80], []],
  ['the second run in a row triggers, and the value is its own', [80, 49, 45, 60], [[1, 2, 3, 45, 45]]],
  ['it stays until the score clears it, and keeps the worst', [40, 41, 52, 30, 54, 55], [[0, 1, 5, 41, 30]]],
  ['between the thresholds nothing begins or ends', [50, 54, 49, 52, 49, 80], []],
  [
    'the last one is open',
    [40, 40, 90, 40, 40],
    [
      [0, 1, 2, 40, 40],
      [3, 4, null, 40, 40],
    ],
  ],
])('%s', (_, scores, expected) => {
  expect(spans(scores)).toEqual(expected);
});
