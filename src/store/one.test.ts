import { expect, test } from 'vitest';
import { one } from './one.ts';

test('returns the only row; no row or several are an error that names the statement', () => {
  expect(one([{ id: 7 }], 'store a key')).toEqual({ id: 7 });
  expect(() => one([], 'store a key')).toThrow(
    'The statement to store a key returned 0 rows instead of one.',
  );
  expect(() => one([1, 2], 'store a key')).toThrow('returned 2 rows instead of one.');
});
