import { expect, test } from 'vitest';
import { toCheck } from './own-check.ts';
import { ownCheck } from './own-check-fixture.ts';

const facts = { version: 180_000, database: 'shop', now: new Date(), thresholds: {} };

function judge(given: Parameters<typeof ownCheck>[0], rows: { object: string | null; value: number }[]) {
  const check = toCheck(ownCheck(given));
  return check.judge(rows, { ...facts, thresholds: check.thresholds ?? {} });
}

test('a value is a fault from its level on, and a measure in any case', () => {
  const forecast = { grows: true, limit: 100 };
  const levels = { operator: '>=', warning: 10, critical: 100, ...forecast };
  const metric = { metric: 'orders_stuck_count', object: null, ...levels };
  expect(judge({}, [{ object: null, value: 9 }])).toEqual({
    faults: [],
    passMessage: '9 (warning from 10, critical from 100).',
    measures: [{ ...metric, value: 9 }],
  });
  expect(judge({}, [{ object: null, value: 1234 }])).toMatchObject({
    faults: [
      {
        severity: 'critical',
        object: null,
        metricLine: '1,234 (warning from 10, critical from 100).',
        remediation: 'Restart the payment worker, see runbook 12.',
        measured: { metric: 'orders_stuck_count', value: 1234, operator: '>=', threshold: 100 },
      },
    ],
    measures: [{ ...metric, value: 1234 }],
  });
});

test('each object is judged, and the worst five are measured', () => {
  const rows = [1, 9, 10, 12, 11, 150, 14].map((value) => ({ object: `queue ${value}`, value }));
  const judgement = judge({ title: 'Queues' }, rows);
  expect(judgement).toMatchObject({
    faults: ['queue 10', 'queue 12', 'queue 11', 'queue 150', 'queue 14'].map((object) => ({ object })),
    measures: [150, 14, 12, 11, 10].map((value) => ({ value })),
  });
});

test.each<[Parameters<typeof ownCheck>[0], number, string]>([
  [{ unit: 'ratio', operator: '<=', warning: 0.5, critical: null }, 0.421, '42 % (warning down from 50 %).'],
  [{ unit: 'bytes', warning: null, critical: 2 ** 30 }, 2 ** 31, '2.0 GB (critical from 1.0 GB).'],
  [{ unit: 'seconds', warning: 60, critical: null }, 7_500, '2 h 5 min (warning from 1 min).'],
  [{ unit: 'per_second', warning: 1, critical: null }, 2.5, '2.5 a second (warning from 1 a second).'],
  [
    { unit: 'seconds', operator: '<=', warning: -1, critical: null },
    -3,
    '-3 seconds (warning down from -1 seconds).',
  ],
  [{ unit: 'count', warning: 0.5, critical: null }, 0.75, '0.75 (warning from 0.5).'],
])('%o shows %d as %s', (given, value, line) => {
  expect(judge(given, [{ object: null, value }])).toMatchObject({ faults: [{ metricLine: line }] });
});

test('thresholds that are set elsewhere replace its own', () => {
  const check = toCheck(ownCheck());
  const judged = check.judge([{ object: null, value: 50 }], {
    ...facts,
    thresholds: { warning: 60, critical: 70 },
  });
  expect(judged).toMatchObject({ faults: [], measures: [{ warning: 60, critical: 70 }] });
  expect(toCheck(ownCheck({ critical: null }))).toMatchObject({
    maxSeverity: 'warning',
    thresholds: { warning: 10 },
  });
});

test('a value that grows is forecast to its last level; one that may fall is not', () => {
  const rows = [{ object: null, value: 9 }];
  expect(judge({ critical: null }, rows)).toMatchObject({ measures: [{ grows: true, limit: 10 }] });
  const falling = judge({ operator: '<=', warning: 5, critical: 1 }, rows);
  expect(falling).toMatchObject({ measures: [{ value: 9 }] });
  expect(falling).not.toHaveProperty(['measures', 0, 'grows']);
  expect(falling).not.toHaveProperty(['measures', 0, 'limit']);
});
