import { expect, test } from 'vitest';
import type { SeriesValue } from '../../checks/measure.ts';
import { cleanMeasures } from './clean-measures.ts';

const measure = (value: number, more: Partial<SeriesValue> = {}): SeriesValue => ({
  checkId: '',
  metric: 'database_bytes',
  database: 'shop',
  object: null,
  value,
  operator: null,
  warning: null,
  critical: null,
  ...more,
});

test('values that the history can’t hold are left out, and tiny ones are zero', () => {
  const values = [Number.NaN, Number.POSITIVE_INFINITY, -1e308, 1e308, 1e31, 1e30, -1, 5e-324, 0];
  expect(cleanMeasures(values.map((value) => measure(value))).map(({ value }) => value)).toEqual([
    1e30, -1, 0, 0,
  ]);
});

test('an impossible limit is none', () => {
  expect(cleanMeasures([measure(1, { limit: Number.NaN }), measure(1, { limit: null })])).toEqual([
    measure(1),
    measure(1),
  ]);
  expect(cleanMeasures([measure(1, { limit: 10, grows: true })])).toEqual([
    measure(1, { limit: 10, grows: true }),
  ]);
});

test('10,000 databases with names of 10,000 characters', () => {
  const name = `\u202e"\n${'x'.repeat(10_000)}`;
  const many = Array.from({ length: 10_000 }, (_, n) => measure(n, { database: name, object: name }));
  const cleaned = cleanMeasures(many);
  expect(cleaned).toHaveLength(1_000);
  for (const { database, object } of cleaned) {
    expect(database).toMatch(/^U&"\\202E""\\000Ax{980,990}…$/);
    expect(object).toBe(database);
  }
});
