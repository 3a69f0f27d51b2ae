import { expect, test } from 'vitest';
import type { Fault } from './fault.ts';
import { groupBySchema } from './group-by-schema.ts';

const note = { noun: 'redundant indexes', advice: 'drop them' };

function fault(object: string, remediation = `DROP INDEX CONCURRENTLY ${object};`): Fault {
  return { severity: 'info', object, metricLine: `index ${object}`, remediation };
}

function grouped(faults: Fault[], cut = false): Fault[] {
  const placed = faults.map((each) => ({ schema: (each.object ?? '').split('.')[0] ?? '', fault: each }));
  return groupBySchema(placed, note, { metric: 'redundant_indexes_count', cut });
}

const many = (schema: string, count: number) =>
  Array.from({ length: count }, (_, n) => fault(`${schema}.i${n}`));

test('three notes on a schema stay, four become one with their statements', () => {
  expect(grouped(many('public', 3))).toEqual(many('public', 3));
  expect(grouped([...many('public', 4), ...many('app', 1)])).toEqual([
    {
      severity: 'info',
      object: 'public',
      metricLine:
        'schema public has 4 redundant indexes: public.i0, public.i1, public.i2, public.i3; drop them.',
      remediation: [0, 1, 2, 3].map((n) => `DROP INDEX CONCURRENTLY public.i${n};`).join(' '),
      measured: { metric: 'redundant_indexes_count', value: 4, operator: '>=', threshold: 1 },
    },
    fault('app.i0'),
  ]);
});

test('warnings stay as they are', () => {
  const warnings = many('public', 5).map((each) => ({ ...each, severity: 'warning' as const }));
  expect(grouped(warnings)).toEqual(warnings);
});

test('a long list is cut to what a finding can show', () => {
  const [one] = grouped(many('public', 100), true);
  expect(one?.metricLine).toMatch(
    /^schema public has 100 or more redundant indexes: .* and \d+ more; drop them\.$/,
  );
  expect(one?.metricLine.length).toBeLessThan(450);
  expect(one?.remediation).toMatch(/^DROP .*; -- \d+ more: run the check again after these$/);
  expect(one?.remediation.length).toBeLessThan(4_000);
});

test('what needs steps is not put into a row of statements', () => {
  const steps = fault('public.x', 'SELECT 1; -- then decide');
  expect(grouped([...many('public', 3), steps])[0]?.remediation).toBe(
    `${[0, 1, 2].map((n) => `DROP INDEX CONCURRENTLY public.i${n};`).join(' ')} -- 1 more: run the check again after these`,
  );
  const own = [1, 2, 3, 4].map((n) => fault(`public.x${n}`, `SELECT ${n}; -- then drop x${n}`));
  expect(grouped(own)[0]?.remediation).toBe('SELECT 1; -- then drop x1');
});

test('a comment that all statements have stands once, at their end', () => {
  const noted = (count: number) =>
    Array.from({ length: count }, (_, n) => fault(`public.x${n}`, `SELECT ${n}; -- then decide`));
  expect(grouped(noted(4))[0]?.remediation).toBe('SELECT 0; SELECT 1; SELECT 2; SELECT 3; -- then decide');
  expect(grouped(noted(500))[0]?.remediation).toMatch(
    /; -- then decide; \d+ more: run the check again after these$/,
  );
});
