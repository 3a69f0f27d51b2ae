import { expect, test } from 'vitest';
import { trendText } from './trend-text.ts';

test.each([
  [[], 'no score in the last 30 days'],
  [[null, null], 'no score in the last 30 days'],
  [[null, 92, null], 'score of the last 30 days: 92'],
  [[92, null, 95], 'score of the last 30 days: from 92 to 95'],
  [[92, 40, null, 61], 'score of the last 30 days: from 92 to 61, lowest 40'],
])('%j reads: %s', (trend, words) => {
  expect(trendText(trend)).toBe(words);
});
