import { expect, test } from 'vitest';
import { expectMeasures } from '../../../test/expect-measures.ts';
import { type SeenJudgement, seen } from '../../../test/seen-judgement.ts';
import type { Check, Row } from '../check.ts';
import { judgementOf } from '../judgement-of.ts';
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
  [3, 3, 1],
  [4, 3, 0],
  [0, 2, 0], // too few
])('%i checkpoints by time and %i requested: %i faults', (timed, requested, expected) => {
  const row = (by: number) => of(null, { timed: by * timed, requested: by * requested, max_wal_size: 1024 });
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

test('without data checksums the check is skipped', () => {
  const rows = [{ object: 'shop', enabled: false, failures: 0, age: null }];
  expect(judge(checksumFailures, rows).skipped).toContain('data checksums are off');
});
