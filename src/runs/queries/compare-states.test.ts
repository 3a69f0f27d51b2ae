import { expect, test } from 'vitest';
import type { Row } from '../../checks/fault.ts';
import { ENTRY_LIMIT } from '../../checks/queries/statistics-sql.ts';
import { entriesIn, growthSince } from './compare-states.ts';
import { mostTime, packState, type QueryState, seenIn, unpackState } from './query-state.ts';

const AT = 1_700_000_000;
const work = (calls: number, seconds: number) => ({
  calls,
  seconds,
  rows: calls,
  read: 0,
  hit: 0,
  temporary: 0,
});
const row = (calls: number, seconds: number, more: Row = {}): Row => ({
  query: '-4711',
  entry: '-4711/10/5/1',
  database: 'shop',
  role: 'app',
  since: null,
  ...work(calls, seconds),
  ...more,
});
const stateOf = (entries: [string, ReturnType<typeof work>][], unreadParts = 0): QueryState => ({
  at: AT,
  part: 0,
  server: 's',
  reset: null,
  lost: null,
  unreadParts,
  entries: new Map(entries),
  judged: new Map([
    ['1', true],
    ['2', false],
  ]),
});
const before = stateOf([['-4711/10/5/1', work(100, 50)]]);

test.each<[string, QueryState, Row, [number, number] | null]>([
  ['one that ran', before, row(110, 51), [10, 1]],
  ['one that did not run', before, row(100, 50), null],
  ['a new one', stateOf([]), row(7, 2), [7, 2]],
  ['one that was evicted and made again', before, row(3, 1), [3, 1]],
  ['one whose time fell', before, row(101, 1), [101, 1]],
  ['one that was made after the last run', before, row(200, 60, { since: AT + 1 }), [200, 60]],
  ['one that was made before it', before, row(200, 60, { since: AT - 9 }), [100, 10]],
  ['an unknown one, of too many', stateOf([], 1), row(7, 2), null],
  ['a new one, of too many', stateOf([], 1), row(7, 2, { since: AT + 1 }), [7, 2]],
])('what a query did since the last run: %s', (_, last, now, grown) => {
  const found = growthSince(last, entriesIn([now]));
  expect(found.map(({ calls, seconds }) => [calls, seconds])).toEqual(grown ? [grown] : []);
});

test('a server can put no text in the place of an id, and no impossible number', () => {
  const digest = 'A0'.repeat(32);
  const rows = [
    row(1, 1, { query: "select secret -- '" }),
    row(1, 1, { query: `${digest}'; drop table t` }),
    row(1, 1, { entry: 'x'.repeat(201) }),
    row(-1, 1),
    row(Number.NaN, 1),
    row(1, Number.POSITIVE_INFINITY),
    row(1, 1, { query: digest, database: `\u202e${'d'.repeat(300)}`, role: null }),
    row(1, 1, { query: null, entry: null }),
  ];
  expect(entriesIn(rows)).toMatchObject([{ query: digest, database: `${'d'.repeat(99)}…`, role: '' }]);
});

test('a state comes back from the store as it was, and nothing else does', () => {
  const state = { ...before, entries: new Map([['-1/2/3/0', { ...work(1e15, 0.123456), hit: 7 }]]) };
  expect(unpackState(packState(state))).toEqual(state);
  for (const wrong of ['', 'x', '\u0078\u009c']) expect(unpackState(Buffer.from(wrong, 'latin1'))).toBeNull();
});

test('5,000 entries take 200 kB at most, and so many are kept', () => {
  const id = (n: number) => (BigInt(n) * 0x9e3779b97f4a7c15n) & 0x7fffffffffffffffn;
  const entries = new Map(
    Array.from({ length: ENTRY_LIMIT + 10 }, (_, n) => [
      `${id(n + 1)}/16384/16385/1`,
      {
        ...work(Number(id(n) % 1_000_000n), Number(id(n) % 999_999_937n) / 1e6),
        read: Number(id(n) % 99_991n),
        hit: Number(id(n) % 9_999_991n),
      },
    ]),
  );
  const kept = mostTime(entries);
  expect(kept.size).toBe(ENTRY_LIMIT);
  expect(packState({ ...before, entries: kept }).length).toBeLessThan(200_000);
  expect(seenIn({ ...before, entries: kept }).bits.length).toBe(64 * 1024);
});
