import { expect, test } from 'vitest';
import { changedThresholds, requireThresholds } from '../../connections/connection-thresholds.ts';
import { thresholdsOf } from './thresholds.ts';

const checks = [
  {
    id: 'PG_A',
    title: '',
    category: 'schema',
    maxSeverity: 'critical' as const,
    thresholds: { warning: 1, critical: 2 },
  },
  { id: 'PG_B', title: '', category: 'schema', maxSeverity: 'info' as const },
];

test('repeated thresholds are combined, and an empty one restores the default', () => {
  const given = ['PG_A.warning=0.25', 'pg_a.critical=', 'PG_C.days=30'];
  const changes = given.reduce((before, text) => thresholdsOf(text, before), {});
  expect(changes).toEqual({ PG_A: { warning: 0.25, critical: null }, PG_C: { days: 30 } });
  const before = { PG_A: { critical: 5 }, PG_D: { days: 1 } };
  expect(changedThresholds(before, changes)).toEqual({
    PG_A: { warning: 0.25 },
    PG_C: { days: 30 },
    PG_D: { days: 1 },
  });
  expect(changedThresholds({ PG_D: { days: 1 } }, { PG_D: { days: null } })).toEqual({});
});

test.each(['', 'PG_A', 'PG_A.warning', 'PG_A=1', 'PG_A.warning=many', 'PG_A.warning=-1', 'PG_A.warning=1e3'])(
  'refuses %j',
  (text) => {
    expect(() => thresholdsOf(text)).toThrow(/--threshold must be CHECK_ID.name=number/);
  },
);

test.each([
  ['PG_A.minimum=1', /^PG_A has no threshold minimum: its thresholds are warning, critical\.$/],
  ['PG_B.warning=1', /^PG_B has no thresholds/],
  ['PG_X.warning=1', /^There is no check PG_X/],
])('%s is not a threshold of any check', (text, message) => {
  expect(() => requireThresholds(thresholdsOf(text), checks)).toThrow(message);
});
