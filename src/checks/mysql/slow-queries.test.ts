import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/seen-judgement.ts';
import type { Row } from '../check.ts';
import { type JudgementInput, judgementOf } from '../judgement-of.ts';
import { slowQueries } from './slow-queries.ts';

const [THEN, SECONDS] = [1_700_000_000, 300];
const DIGEST = 'a'.repeat(32);

/** A query since its statistics began, an hour before the run before if not told otherwise. */
const query = (calls: number, seconds: number, more: Row = {}): Row => ({
  ...{ digest: DIGEST, calls, seconds, since: THEN - 3_600 },
  ...more,
});

/** The rows of a run at a time; no statement counts as slow. */
function run(clock: number, ...queries: Row[]): Row[] {
  const uptime = clock - THEN + 86_400;
  const shown = {
    ...{ Uptime: uptime, Uptime_since_flush_status: uptime, long_query_time: '10.000000' },
    ...{ Slow_queries: 0, Questions: clock - THEN + 1_000, performance_schema: 'ON' },
  };
  const figures = Object.entries(shown).map(([name, value]) => ({
    Variable_name: name,
    Value: String(value),
  }));
  return [{ clock }, ...figures, ...queries];
}

function between(
  before: Row[],
  now: Row[],
  { seconds = SECONDS, ...facts }: Partial<JudgementInput> & { seconds?: number } = {},
): SeenJudgement {
  const judgement = seen(
    judgementOf(slowQueries, run(THEN + seconds, ...now), {
      ...{ version: 101_119, database: '', now: new Date('2026-11-21') },
      ...{ before: { rows: run(THEN, ...before), seconds }, ...facts },
    }),
  );
  expectMeasures(slowQueries, judgement);
  return judgement;
}

const numberOf = ({ measures }: SeenJudgement, metric: string) =>
  measures?.find((one) => one.metric === metric && one.object === null)?.value;

test('a query is judged by what it did since the last run, not since its statistics began', () => {
  const mended = between([query(1_000, 900)], [query(1_100, 901)]);
  expect([mended.faults, numberOf(mended, 'query_mean_seconds')]).toEqual([[], 0.01]);
  const worse = between([query(1_000_000, 1_000)], [query(1_000_010, 1_004)]);
  expect(worse.faults).toMatchObject([
    {
      severity: 'info',
      object: DIGEST,
      metricLine: `Query ${DIGEST} took 400 ms on average, 10 times since the last run (4 s in all); check whether an index helps.`,
      measured: { metric: 'query_mean_seconds', value: 0.4, operator: '>=', threshold: 0.05 },
    },
  ]);
  expect([numberOf(worse, 'query_mean_seconds'), numberOf(worse, 'slow_queries_count')]).toEqual([0.4, 1]);
});

test.each([
  ['under 50 ms', 10, 0.499, SECONDS, 0],
  ['50 ms', 10, 0.5, SECONDS, 1],
  ['twice in five minutes', 2, 9, SECONDS, 0],
  ['three times, 50 a day over an hour', 3, 9, SECONDS, 1],
  ['99 times in two days', 99, 99, 172_800, 0],
  ['100 times in two days', 100, 99, 172_800, 1],
])('%s', (_, calls, spent, seconds, faults) => {
  expect(between([query(0, 0)], [query(calls, spent)], { seconds }).faults).toHaveLength(faults);
});

test('the connection changes the thresholds', () => {
  const rows: [Row[], Row[]] = [[query(0, 0)], [query(2, 0.04)]];
  expect(between(...rows).faults).toEqual([]);
  const { faults } = between(...rows, { thresholds: { info_ms: 20, calls_per_day: 40 } });
  expect(faults[0]?.measured?.threshold).toBe(0.02);
});

const slow = query(100, 50);
test.each<[string, Row[], Row[], number]>([
  ['one that the run before did not list', [], [slow], 0],
  ['one that is new since then', [], [{ ...slow, since: THEN + 1 }], 1],
  ['one whose statistics were reset since then', [query(5_000, 1)], [{ ...slow, since: THEN + 1 }], 1],
  [
    'one whose statistics began at another time before then',
    [query(9, 1)],
    [{ ...slow, since: THEN - 9 }],
    0,
  ],
  ['one whose counters fell', [query(5_000, 1)], [slow], 0],
  ['one whose time fell', [query(5, 90)], [slow], 0],
  ['one that did not run', [slow], [slow], 0],
  ['one that the server no longer lists', [slow], [], 0],
])('a query without a known growth has no value: %s', (_, before, now, faults) => {
  const judgement = between(before, now);
  expect(judgement.skipped).toBeUndefined();
  expect(judgement.faults).toHaveLength(faults);
  expect(numberOf(judgement, 'slow_queries_count')).toBe(faults);
  for (const { value } of judgement.measures ?? []) expect(value).toBeGreaterThanOrEqual(0);
});

test('a server can put no text of its own in the place of a digest', () => {
  const text = (digest: string) =>
    between([query(0, 0, { digest })], [query(9, 9, { digest })]).faults.map(({ object }) => object);
  expect(text("select secret from t -- '")).toEqual([]);
  expect(text(`${DIGEST}'; drop table t`)).toEqual([]);
  expect(text('0'.repeat(64))).toEqual(['0'.repeat(64)]);
});

test('five queries have a series, and a hundred a finding', () => {
  const many = (calls: number, seconds: number) =>
    Array.from({ length: 150 }, (_, n) =>
      query(calls, seconds * (n + 1), { digest: n.toString(16).padStart(32, '0') }),
    );
  const { faults, truncated, measures = [] } = between(many(0, 0), many(10, 1));
  expect([faults.length, truncated, faults[0]?.object]).toEqual([
    100,
    true,
    (149).toString(16).padStart(32, '0'),
  ]);
  const means = measures.filter(({ metric }) => metric === 'query_mean_seconds');
  expect(means.map(({ value }) => value)).toEqual([15, 15, 14.9, 14.8, 14.7, 14.6]);
  expect(measures).toContainEqual(expect.objectContaining({ metric: 'slow_queries_count', value: 150 }));
});
