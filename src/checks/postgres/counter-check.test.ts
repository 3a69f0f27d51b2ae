import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/support/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/support/seen-judgement.ts';
import type { Check } from '../check.ts';
import type { Row } from '../fault.ts';
import { judgementOf, keptRows } from '../judgement-of.ts';
import { cacheHitLow } from './cache-hit-low.ts';
import { checkpointsRequested } from './checkpoints-requested.ts';
import { checksumFailures } from './checksum-failures.ts';
import { deadlocks } from './deadlocks.ts';
import { rollbackRatio } from './rollback-ratio.ts';
import { tempFiles } from './temp-files.ts';

const server = { version: 180_004, database: 'shop', now: new Date('2026-11-21') };
const began = { reset: 1_700_000_000.123456, started: 1_700_000_001.5 };
const of = (object: string | null, counters: Row): Row => ({ object, ...began, ...counters });

function judge(check: Check, rows: Row[], before?: Row[], seconds = 300): SeenJudgement {
  const facts = { ...server, ...(before && { before: { rows: before, seconds } }) };
  const judgement = seen(judgementOf(check, rows, facts));
  expectMeasures(check, judgement);
  return judgement;
}

const faults = (judgement: SeenJudgement) =>
  judgement.faults.map(({ severity, object }) => [severity, object]);

test.each([
  ['the first run', undefined, 300, 'this is the first'],
  ['too soon', [of('shop', { deadlocks: 0 })], 4.9, 'less than 5 s ago'],
  ['another start', [{ ...of('shop', { deadlocks: 0 }), started: 1 }], 300, 'the server was restarted'],
  ['another reset', [{ ...of('shop', { deadlocks: 0 }), reset: 1 }], 300, 'the statistics were reset'],
  ['the first reset', [{ ...of('shop', { deadlocks: 0 }), reset: null }], 300, 'the statistics were reset'],
  ['a counter that fell', [of('shop', { deadlocks: 1_001 })], 300, 'the statistics were reset'],
])('the check is skipped after %s', (_, before, seconds, reason) => {
  const { skipped } = judge(deadlocks, [of('shop', { deadlocks: 1_000 })], before, seconds);
  expect(skipped).toMatch(/^Not measured: /);
  expect(skipped).toContain(reason);
});

test('a database whose counters were reset is not "ok", and a new one is ignored', () => {
  const now = [
    of('shop', { deadlocks: 5 }),
    of('archive', { deadlocks: 30 }),
    of('fresh', { deadlocks: 90 }),
  ];
  const before = [of('shop', { deadlocks: 9 }), of('archive', { deadlocks: 3 })];
  const judgement = judge(deadlocks, now, before);
  expect(faults(judgement)).toEqual([['warning', 'archive']]);
  expect(judgement.truncated).toBe(true);
  expect(judge(deadlocks, now, [...before.slice(1), of('shop', { deadlocks: 5 })]).truncated).toBe(false);
  expect(
    judge(deadlocks, now.slice(0, 1), [...before.slice(1), of('shop', { deadlocks: 5 })]).truncated,
  ).toBe(false);
});

test('with a thousand databases the list is truncated and flagged', () => {
  const rows = (count: number) => Array.from({ length: 1_000 }, (_, n) => of(`d${n}`, { deadlocks: count }));
  const judgement = judge(deadlocks, rows(100), rows(0));
  expect([judgement.faults.length, judgement.truncated]).toEqual([100, true]);
});

test.each([
  [24, 300, []],
  [25, 300, [['warning', 'shop']]],
  [4, 10, []],
  [5, 10, [['warning', 'shop']]],
])('%i deadlocks in %i s: %j', (count, seconds, expected) => {
  const before = [of('shop', { deadlocks: 1_000 })];
  expect(faults(judge(deadlocks, [of('shop', { deadlocks: 1_000 + count })], before, seconds))).toEqual(
    expected,
  );
});

test.each([
  [1024 ** 3 / 6 - 1, 300, 0],
  [1024 ** 3 / 6, 300, 1], // counted as if in ten minutes
  [1024 ** 3 / 2 - 1, 1800, 0],
  [1024 ** 3 / 2, 1800, 1],
])('%d bytes of temporary files in %i s: %i faults', (bytes, seconds, expected) => {
  const row = (size: number) => of('shop', { files: size, bytes: size, work_mem: 4096 });
  expect(judge(tempFiles, [row(bytes + 7)], [row(7)], seconds).faults).toHaveLength(expected);
});

test.each([
  [901, 100, 0],
  [900, 100, 1],
  [899, 100, 0], // fewer than a thousand
])('%i committed and %i rolled back: %i faults', (committed, rolled_back, expected) => {
  const before = of('shop', { committed: 50, rolled_back: 5_000 });
  const now = of('shop', { committed: 50 + committed, rolled_back: 5_000 + rolled_back });
  expect(judge(rollbackRatio, [now], [before]).faults).toHaveLength(expected);
});

test.each([
  [190_000, 10_000, 0],
  [189_999, 10_000, 1],
  [0, 9_999, 0], // too few reads
  [0, 0, 0],
])('%i hits and %i reads: %i faults', (hits, reads, expected) => {
  const row = (by: number) => of('shop', { hits: by * hits, reads: by * reads, buffers: 2 ** 27 });
  expect(judge(cacheHitLow, [row(2)], [row(1)]).faults).toHaveLength(expected);
});

test.each([
  [3, 3, 3, 1],
  [4, 3, 3, 0],
  [0, 2, 2, 0], // too few
  [0, 18, 2.9, 0], // by six CREATE DATABASE
  [0, 18, 3, 1],
])('%i checkpoints by time, %i requested, WAL for %d: %i faults', (timed, requested, wal, expected) => {
  const row = (by: number) =>
    of(null, {
      timed: by * timed,
      requested: by * requested,
      max_wal_size: 2 ** 30,
      wal_between: 1e9,
      wal: by * wal * 1e9,
    });
  expect(judge(checkpointsRequested, [row(2)], [row(1)]).faults).toHaveLength(expected);
});

test.each([
  ['never', 0, null, 0, []],
  ['a day ago', 3, 86_400, 3, []],
  ['within the day', 3, 86_399, 3, [['critical', null]]],
  ['within the day, before the first run', 3, 86_399, undefined, [['critical', null]]],
  ['since the last run, which is two days ago', 4, 100_000, 3, [['critical', null]]],
])('a checksum failure %s', (_, failures, age, last, expected) => {
  const row = { object: null, enabled: true, age };
  const before = last === undefined ? undefined : [{ ...row, failures: last }];
  expect(faults(judge(checksumFailures, [{ ...row, failures }], before, 172_800))).toEqual(expected);
});

const counted = {
  object: 'shop',
  enabled: true,
  age: null,
  failures: 0,
  clock: 2_000,
  reset: null,
  counted_from: 1_500,
  timeline: 1,
  reset_at_first: false,
};
const damaged = { ...counted, age: 100, failures: 2, clock: 1_000, counted_from: 10 };

test.each<[string, Partial<Record<keyof typeof counted, unknown>>, string[]]>([
  ['a crash', {}, ['2 checksum failures, the last 18 min ago, which the server forgot in a crash']],
  [
    'a crash before PostgreSQL 15',
    { reset: 1_600, reset_at_first: true },
    ['2 checksum failures, the last 18'],
  ],
  ['a crash, and another failure', { failures: 1, age: 5 }, ['3 checksum failures, the last 5 s ago']],
  ['a reset of the statistics', { counted_from: 10, reset: 1_600 }, []],
  ['a failover', { timeline: 2 }, []],
])('after %s damaged pages are remembered unless somebody decided otherwise', (_, change, expected) => {
  const row = { ...counted, ...change };
  const lines = (rows: Row[], before: Row[]) => {
    const judgement = judge(checksumFailures, rows, before, 1_000);
    return judgement.faults.map(({ metricLine }) => metricLine);
  };
  const expectLines = (found: string[]) =>
    expect(found).toEqual(expected.map((line) => expect.stringContaining(line)));
  expectLines(lines([row], [damaged]));
  const kept = keptRows(checksumFailures, [row], { rows: [damaged], seconds: 1_000 });
  expectLines(lines([row], kept));
  const later = { ...row, clock: 900 + 24 * 3_600, age: 25 * 3_600 };
  expect(lines([later], kept)).toEqual([]);
});

test('without data checksums the check is skipped', () => {
  const rows = [{ object: 'shop', enabled: false, failures: 0, age: null }];
  expect(judge(checksumFailures, rows).skipped).toContain('data checksums are off');
});
