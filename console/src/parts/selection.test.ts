import { expect, test } from 'vitest';
import { rangeOf } from './selection.tsx';

test.each([
  ['downwards', 20, 40, [20, 30, 40]],
  ['upwards', 40, 20, [20, 30, 40]],
  ['without a row before', null, 30, [30]],
  ['from a row that is not listed any more', 99, 30, [30]],
  ['to itself', 30, 30, [30]],
])('a range %s', (_, from, to, ids) => {
  expect(rangeOf([10, 20, 30, 40, 50], from, to)).toEqual(ids);
});
