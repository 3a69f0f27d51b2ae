import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/support/seen-judgement.ts';
import type { Row } from '../fault.ts';
import { type JudgementInput, judgementOf } from '../judgement-of.ts';
import type { QueryGrowth } from '../queries/query-facts.ts';
import { slowQueries } from './slow-queries.ts';

const [THEN, SECONDS] = [1_700_000_000, 300];
const DIGEST = 'a'.repeat(32);

/** What a query did since the run before. */
const query = (calls: number, seconds: number, digest = DIGEST): QueryGrowth => ({
  query: digest,
  database: 'shop',
  role: '',
  calls,
  seconds,
  rows: calls,
  read: 1_000_000,
  hit: 0,
  temporary: 0,
});

/** The rows of a run at a time. */
function run(clock: number, slow = 0, more: Readonly<Record<string, number>> = {}): Row[] {
  const uptime = clock - THEN + 86_400;
  const shown = {
    Uptime: uptime,
    Uptime_since_flush_status: uptime,
    long_query_time: '10.000000',
    Slow_queries: slow,
    Questions: clock - THEN + 1_000,
    performance_schema: 'ON',
    slow_query_log: 'ON',
    log_output: 'FILE',
    ...more,
  };
  const figures = Object.entries(shown).map(([name, value]) => ({
    Variable_name: name,
    Value: String(value),
  }));
  return [{ clock }, ...figures];
}

function judged(
  grown: QueryGrowth[],
  { seconds = SECONDS, ...facts }: Partial<JudgementInput> & { seconds?: number } = {},
): SeenJudgement {
  const history = { recent: [], recentSeconds: 0, usual: new Map(), historyDays: 0, usualIsCut: false };
  const judgement = seen(
    judgementOf(slowQueries, run(THEN + seconds), {
      version: 101_119,
      database: '',
      now: new Date('2026-11-21'),
      before: { rows: run(THEN), seconds },
      queries: { schema: 'performance_schema', seconds, grown, ...history },
      ...facts,
    }),
  );
  expectMeasures(slowQueries, judgement);
  return judgement;
}

const numberOf = ({ measures }: SeenJudgement, metric: string) =>
  measures?.find((one) => one.metric === metric && one.object === null)?.value;

test('a query is judged by what it did since the last run, in all schemas', () => {
  const quick = judged([query(100, 1)]);
  expect([quick.faults, numberOf(quick, 'query_mean_seconds')]).toEqual([[], 0.01]);
  const slow = judged([query(4, 1), { ...query(6, 3), database: 'other' }]);
  expect(slow.faults).toMatchObject([
    {
      severity: 'info',
      object: DIGEST,
      metricLine: `Query ${DIGEST} took 400 ms on average, 10 times since the last run (4 s in all); check whether an index helps.`,
      measured: { metric: 'query_mean_seconds', value: 0.4, operator: '>=', threshold: 0.05 },
    },
  ]);
  expect([numberOf(slow, 'query_mean_seconds'), numberOf(slow, 'slow_queries_count')]).toEqual([0.4, 1]);
});

test.each([
  ['under 50 ms', 10, 0.499, SECONDS, 0],
  ['50 ms', 10, 0.5, SECONDS, 1],
  ['twice in five minutes', 2, 9, SECONDS, 0],
  ['three times, 50 a day over an hour', 3, 9, SECONDS, 1],
  ['99 times in two days', 99, 99, 172_800, 0],
  ['100 times in two days', 100, 99, 172_800, 1],
])('%s', (_, calls, spent, seconds, faults) => {
  expect(judged([query(calls, spent)], { seconds }).faults).toHaveLength(faults);
});

test('the connection changes the thresholds', () => {
  const rows = [query(2, 0.04)];
  expect(judged(rows).faults).toEqual([]);
  const { faults } = judged(rows, { thresholds: { info_ms: 20, calls_per_day: 40 } });
  expect(faults[0]?.measured?.threshold).toBe(0.02);
});

test('without the statistics of queries the share of slow statements is measured, and the reason is said', () => {
  const reason = 'Not measured: the consumer statements_digest is off.';
  const judgement = judged([], { queries: { skipped: reason } });
  expect(judgement.measures?.map(({ metric }) => metric)).toEqual(['slow_queries_ratio']);
  expect(judgement.passMessage).toContain(`Single queries: ${reason}`);
});

test('five queries have a series, and a hundred a finding', () => {
  const many = Array.from({ length: 150 }, (_, n) => query(10, n + 1, n.toString(16).padStart(32, '0')));
  const { faults, truncated, measures = [] } = judged(many);
  expect([faults.length, truncated, faults[0]?.object]).toEqual([
    100,
    true,
    (149).toString(16).padStart(32, '0'),
  ]);
  const means = measures.filter(({ metric }) => metric === 'query_mean_seconds');
  expect(means.map(({ value }) => value)).toEqual([15, 15, 14.9, 14.8, 14.7, 14.6]);
  expect(measures).toContainEqual(expect.objectContaining({ metric: 'slow_queries_count', value: 150 }));
});

test('a query that examined next to nothing has waited', () => {
  const [fault] = judged([{ ...query(4, 8), read: 4 }]).faults;
  expect(fault?.metricLine).toContain('find out what it waits for, such as a lock.');
  expect(fault?.remediation).toContain('blocking_pid');
});

test('what a backup reads is no slow query', () => {
  const grown = [query(12, 240)];
  const queries = { schema: 'performance_schema', seconds: SECONDS, grown, setAside: new Set([DIGEST]) };
  const history = { recent: [], recentSeconds: 0, usual: new Map(), historyDays: 0, usualIsCut: false };
  const judge = (setAside: ReadonlySet<string>) =>
    seen(
      judgementOf(slowQueries, run(THEN + SECONDS, 30), {
        version: 101_119,
        database: '',
        now: new Date('2026-11-21'),
        before: { rows: run(THEN), seconds: SECONDS },
        queries: { ...queries, ...history, setAside },
      }),
    );
  expect(judge(new Set()).faults.map(({ object }) => object)).toEqual([null, DIGEST]);
  const judgement = judge(new Set([DIGEST]));
  expect(judgement.faults).toMatchObject([{ metricLine: expect.stringMatching(/^18 of 300 statements/) }]);
});

test.each([
  [600_000, 'statements waited 10 min for row locks, which may be why all of them were slow'],
  [100_000, 'statements waited 1 min for row locks, which may be why up to 10 of them were slow'],
  [0, 'look at those that take most time.'],
])('%i ms of waits for row locks are said', (waited, expected) => {
  const before = { rows: run(THEN, 0, { Innodb_row_lock_time: 0 }), seconds: SECONDS };
  const rows = run(THEN + SECONDS, 30, { Innodb_row_lock_time: waited });
  const facts = { version: 101_119, database: '', now: new Date('2026-11-21'), before };
  const [fault] = seen(judgementOf(slowQueries, rows, facts)).faults;
  expect(fault?.metricLine).toContain(expected);
});
