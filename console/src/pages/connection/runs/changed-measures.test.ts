import { expect, test } from 'vitest';
import { changedMeasures, differenceText } from './changed-measures.ts';

const measure = (title: string, before: number | null, after: number | null) => ({
  series_id: 1,
  check_id: '',
  metric: 'database_bytes',
  title,
  unit: 'bytes' as const,
  database: '',
  object: null,
  before,
  after,
});

test('values that changed most come first, and equal ones are left out', () => {
  const values = [
    measure('a little', 100, 101),
    measure('equal', 5, 5),
    measure('came', null, 1),
    measure('from nothing', 0, 3),
    measure('half', 10, 5),
    measure('zero', 0, 0),
  ];
  expect(changedMeasures(values).map(({ title }) => title)).toEqual([
    'came',
    'from nothing',
    'half',
    'a little',
  ]);
});

test('a difference has its sign and unit', () => {
  expect(differenceText(measure('more', 0, 2_000_000))).toMatch(/^\+\d.* MB$/);
  expect(differenceText(measure('less', 2_000_000, 0))).toMatch(/^-\d.* MB$/);
  expect(differenceText({ ...measure('ratio', 0.5, 0.46), unit: 'ratio' })).toBe('-4 points');
  expect(differenceText(measure('came', null, 1))).toBe('');
});
