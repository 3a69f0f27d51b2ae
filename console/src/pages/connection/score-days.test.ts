import { expect, test } from 'vitest';
import { chartColumns, maintenanceSpans, scoreDays, scoreText, timeSpan } from './score-days.ts';

const at = (day: number, hour: number) => new Date(Date.UTC(2026, 0, day, hour)).toISOString();

test('each day has its last score, latest day first', () => {
  const history = [
    { at: at(1, 23), score: 90, in_maintenance: false, of_day: true },
    { at: at(2, 8), score: 40, in_maintenance: false, of_day: false },
    { at: at(2, 9), score: 70, in_maintenance: false, of_day: false },
  ];
  expect(scoreDays(history)).toEqual([
    { day: '2026-01-02', score: 70 },
    { day: '2026-01-01', score: 90 },
  ]);
});

test('the line breaks only after two days without a score', () => {
  const history = [at(1, 8), at(3, 8), at(6, 8)].map((day, index) => ({
    at: day,
    score: 90 + index,
    in_maintenance: false,
    of_day: false,
  }));
  const [times, scores] = chartColumns(history);
  expect(scores).toEqual([90, 91, null, 92]);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBe(Date.parse(at(1, 8)) / 1000);
});

test('no scores give no days and an empty chart', () => {
  expect(scoreDays([])).toEqual([]);
  expect(chartColumns([])).toEqual([[], []]);
});

const NOTE = ' Before the last week, only the last score of each day counts.';

test.each([
  [[], false, 'No score yet.'],
  // Other scores may have preceded it in its half hour.
  [[98], false, 'Score on 1 Jan 2026: 98.'],
  [[98, 98, 98], false, 'Score since 1 Jan 2026: always 98.'],
  [[98, 98, 98], true, `Score since 1 Jan 2026: 98.${NOTE}`],
  [[49, 20, 61], false, 'Score since 1 Jan 2026: from 49 to 61, lowest 20 on 2 Jan 2026.'],
  [[49, 20, 61], true, `Score since 1 Jan 2026: from 49 to 61, lowest 20 on 2 Jan 2026.${NOTE}`],
])('%j, daily: %j, reads: %s', (scores, of_day, words) => {
  expect(
    scoreText(scores.map((score, day) => ({ at: at(day + 1, 8), score, in_maintenance: false, of_day }))),
  ).toBe(words);
});

test('checks in maintenance that follow each other are one span, and are told', () => {
  const history = [false, true, true, false, true].map((in_maintenance, index) => ({
    at: at(1, index),
    score: 90,
    in_maintenance,
    of_day: false,
  }));
  const hour = (index: number) => Date.parse(at(1, index)) / 1_000;
  expect(maintenanceSpans(history)).toEqual([
    [hour(1), hour(2)],
    [hour(4), hour(4)],
  ]);
  expect(scoreText(history)).toBe(
    'Score since 1 Jan 2026: always 90. Some scores are from maintenance windows.',
  );
});

test('the axis ends with the last score and spans at least a day', () => {
  const DAY = 86_400;
  expect(timeSpan([5 * DAY])).toEqual([4 * DAY, 5 * DAY]);
  expect(timeSpan([5 * DAY - 60, 5 * DAY])).toEqual([4 * DAY, 5 * DAY]);
  expect(timeSpan([DAY, 3 * DAY, 5 * DAY])).toEqual([DAY, 5 * DAY]);
});
