import { expect, test } from 'vitest';
import { executedSince } from './executed-since.ts';

const at = 1_000;
const entry = (calls: number, total: number, since: number | null, name = 'a') => ({
  ...{ query: '7', entry: name, calls, total, since },
});
const kept = (calls: number, total: number, since: number | null, name = 'a') => ({
  ...{ entry: name, calls, total, since },
});

test.each([
  // what happened, now, before, evicted, calls and total since
  ['an entry that stayed', entry(15, 900, 500), kept(10, 400, 500), true, [5, 500]],
  ['nothing happened', entry(10, 400, 500), kept(10, 400, 500), true, []],
  [
    'made again, with more calls than before',
    entry(11, 11_000, 1_001),
    kept(10, 10, 500),
    true,
    [11, 11_000],
  ],
  ['made since', entry(3, 600, 1_001), undefined, false, [3, 600]],
  ['new here, but older than the last run', entry(3, 600, 999), undefined, true, []],
  ['before 17: an entry that stayed', entry(15, 900, null), kept(10, 400, null), false, [5, 500]],
  ['before 17: new here', entry(3, 600, null), undefined, false, []],
  ['before 17: fewer calls, so made again', entry(3, 600, null), kept(10, 400, null), true, [3, 600]],
  ['before 17: less time, so made again', entry(12, 300, null), kept(10, 400, null), true, [12, 300]],
  ['before 17: perhaps made again, and fast', entry(20, 1_000, null), kept(10, 0, null), true, [10, 500]],
  ['before 17: perhaps made again, and slow', entry(20, 5_000, null), kept(10, 4_900, null), true, [10, 100]],
  ['the extension was updated', entry(15, 900, 500), kept(10, 400, null), false, [5, 500]],
] as const)('%s', (_, now, before, evicted, expected) => {
  const [calls, total] = expected;
  expect(executedSince([now], before ? [before] : [], { at, evicted })).toEqual(
    calls === undefined ? [] : [{ query: '7', calls, total }],
  );
});

test('a query of several roles and databases is one, and the one that took most comes first', () => {
  const rows = [entry(15, 900, 500), entry(6, 60, 500, 'b'), { ...entry(2, 2_000, 500, 'c'), query: '8' }];
  const before = [kept(10, 400, 500), kept(1, 10, 500, 'b'), kept(1, 1_000, 500, 'c')];
  expect(executedSince(rows, before, { at, evicted: false })).toEqual([
    { query: '8', calls: 1, total: 1_000 },
    { query: '7', calls: 10, total: 550 },
  ]);
});
