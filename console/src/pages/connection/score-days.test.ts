import { expect, test } from 'vitest';
import { chartColumns, scoreDays, scoreWords } from './score-days.ts';

const at = (day: number, hour: number) => new Date(Date.UTC(2026, 0, day, hour)).toISOString();

test('a day has its last score, the latest day first', () => {
  const history = [
    { at: at(1, 23), score: 90 },
    { at: at(2, 8), score: 40 },
    { at: at(2, 9), score: 70 },
  ];
  expect(scoreDays(history)).toEqual([
    { day: '2026-01-02', score: 70 },
    { day: '2026-01-01', score: 90 },
  ]);
});

test('the line breaks where nothing was measured for two days, and only there', () => {
  const history = [at(1, 8), at(3, 8), at(6, 8)].map((day, index) => ({ at: day, score: 90 + index }));
  const [times, scores] = chartColumns(history);
  expect(scores).toEqual([90, 91, null, 92]);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(times[0]).toBe(Date.parse(at(1, 8)) / 1000);
});

test('without a score there is nothing', () => {
  expect(scoreDays([])).toEqual([]);
  expect(chartColumns([])).toEqual([[], []]);
});

test.each([
  [[], 'No score yet.'],
  [[98], 'One score so far: 98.'],
  [[98, 98, 98], 'Score since 1 Jan 2026: always 98.'],
  [[49, 20, 61], 'Score since 1 Jan 2026: from 49 to 61, lowest 20 on 2 Jan 2026.'],
])('%j is read as: %s', (scores, words) => {
  expect(scoreWords(scores.map((score, day) => ({ at: at(day + 1, 8), score })))).toBe(words);
});
