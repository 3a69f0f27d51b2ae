import { expect, test } from 'vitest';
import { nearestWord } from './nearest-word.ts';

const METRICS = ['connections_used_ratio', 'dead_rows_ratio', 'replication_lag_bytes', 'lag_seconds'];

test.each([
  ['conections_used_ratio', 'connections_used_ratio'],
  ['dead_row_ratio', 'dead_rows_ratio'],
  ['replication', 'replication_lag_bytes'],
  ['lag_second', 'lag_seconds'],
  ['zzz', undefined],
])('%s is near to %s', (typed, word) => {
  expect(nearestWord(typed, METRICS)).toBe(word);
});
