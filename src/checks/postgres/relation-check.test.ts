import { expect, test } from 'vitest';
import { rowsOf } from '../rows.ts';
import { relationCheck } from './relation-check.ts';

const check = relationCheck({
  id: 'TEST',
  title: 'Test',
  category: 'schema',
  maxSeverity: 'info',
  thresholds: { minimum_rows: 10 },
  candidates: () => 'candidates',
  details: {
    of: ({ rows }, { minimum_rows }) => Number(rows) >= minimum_rows,
    sql: (objects) => `of ${objects}`,
  },
  countMetric: 'tests_count',
  fault: ({ object, rows, detail }, { thresholds: { minimum_rows } }) =>
    Number(rows) < minimum_rows
      ? null
      : { severity: 'info', object: String(object), metricLine: 'is large', remediation: String(detail) },
  passMessage: 'None is large.',
});

const counts = { tables: 1, standby: false, sees_promotion: false, track_counts: true, counted_seconds: 1 };
const candidate = (oid: number, rows: number) => ({
  found: true,
  unseen: null,
  oid,
  object: `o${oid}`,
  rows,
});

async function run(candidates: object[], details: object[]) {
  const asked: string[] = [];
  const answers = [[counts], candidates, details];
  const rows = await rowsOf(check, { engine: 'postgres', version: 180_000 }, async (statement) => {
    asked.push(statement);
    return (answers[asked.length - 1] ?? []) as Record<string, unknown>[];
  });
  const facts = { version: 180_000, database: 'shop', now: new Date(), thresholds: { minimum_rows: 10 } };
  return { asked, judged: check.judge(rows, facts) };
}

test('details are read of the candidates that need them, and of no others', async () => {
  const { asked, judged } = await run(
    [candidate(1, 5), candidate(2, 50)],
    [{ detailed: true, oid: 2, detail: 'mend' }],
  );
  expect(asked).toHaveLength(3);
  expect(asked[2]).toContain(`of unnest('{2}'::oid[]) as object (oid)`);
  expect(judged).toMatchObject({ faults: [{ object: 'o2', remediation: 'mend' }] });
});

test('without such a candidate there is no statement for them', async () => {
  const { asked, judged } = await run([candidate(1, 5)], []);
  expect(asked).toHaveLength(2);
  expect(judged).toMatchObject({ faults: [] });
});

test('an object that has gone since is no fault', async () => {
  const { judged } = await run(
    [candidate(2, 50), candidate(3, 60)],
    [{ detailed: true, oid: 3, detail: 'mend' }],
  );
  expect(judged).toMatchObject({ faults: [{ object: 'o3' }] });
});

test('an id that is no number does not get into a statement', async () => {
  const hostile = { ...candidate(2, 50), oid: "2}'); drop table shop; --" };
  await expect(run([hostile], [])).rejects.toThrow("Column oid of the check's statement");
});
