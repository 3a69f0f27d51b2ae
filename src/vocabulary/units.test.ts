import { expect, test } from 'vitest';
import { metricWords } from '../platform/text/metric-words.ts';
import { unitOf } from './units.ts';

test.each([
  ['replication_lag_bytes', 'bytes', 'Replication lag'],
  ['wal_bytes_per_second', 'bytes_per_second', 'Wal'],
  ['deadlocks_per_second', 'per_second', 'Deadlocks'],
  ['connections_used_ratio', 'ratio', 'Connections used'],
  ['unused_indexes_count', 'count', 'Unused indexes'],
  ['nameless', 'count', 'Nameless'],
  ['bytes', 'bytes', 'Bytes'],
])('%s is in %s and is called %s', (metric, unit, words) => {
  expect([unitOf(metric), metricWords(metric)]).toEqual([unit, words]);
});
