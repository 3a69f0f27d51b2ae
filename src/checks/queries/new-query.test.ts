import { expect, test } from 'vitest';
import { judgementOf } from '../judgement-of.ts';
import { queryNew } from '../postgres/query-new.ts';
import type { QueryFacts, QueryGrowth } from './query-facts.ts';
import { placeKey } from './query-facts.ts';

const place = (query: string) => ({ query, database: 'shop', role: 'app' });

const work = (query: string, seconds = 100): QueryGrowth => ({
  ...place(query),
  calls: 100,
  seconds,
  rows: 1,
  read: 0,
  hit: 0,
  temporary: 0,
});

function judge(recent: QueryGrowth[], known: string[], setAside: string[] = []) {
  const queries: QueryFacts = {
    schema: 'public',
    seconds: 300,
    grown: [],
    recent,
    recentSeconds: recent.reduce((sum, { seconds }) => sum + seconds, 0),
    usual: new Map(known.map((query) => [placeKey(place(query)), { mean: 1, days: 14 }])),
    historyDays: 14,
    usualIsCut: false,
    setAside: new Set(setAside),
  };
  const now = new Date('2026-11-28');
  const judgement = judgementOf(queryNew, [], { version: 180_000, database: '', now, queries });
  return 'skipped' in judgement
    ? judgement.skipped
    : judgement.faults.map(({ object }) => object?.split(' ')[0]);
}

const ids = (first: number, count: number) => Array.from({ length: count }, (_, n) => String(first + n));

test('one new query among those that were there before is found', () => {
  const [usual, release] = [ids(1, 9), work('4711', 900)];
  expect(judge([release, ...usual.map((id) => work(id))], usual)).toEqual(['4711']);
});

test('a release that replaces most queries shows those that take much of the time', () => {
  const [usual, replaced] = [ids(1, 2), ids(100, 8)];
  expect(
    judge(
      [...replaced, ...usual].map((id) => work(id)),
      usual,
    ),
  ).toHaveLength(8);
});

test('after a restore or an upgrade all queries have other ids, and none is called new', () => {
  const [before, after] = [ids(1, 9), ids(100, 9)];
  const said = /^Not measured: hardly any query is known from before: after a restore, .* have other ids\.$/;
  expect(
    judge(
      after.map((id) => work(id)),
      before,
    ),
  ).toMatch(said);
  // COMMIT has no table, and what reads the catalogue has the same oids: neither shows that the others are new.
  const catalogue = ids(500, 9);
  const recent = [...after, 'COMMIT', ...catalogue].map((id) => work(id === 'COMMIT' ? '7' : id));
  expect(judge(recent, [...before, ...catalogue, '7'], catalogue)).toMatch(said);
});

test('a server with a handful of queries is judged by them', () => {
  expect(judge([work('1'), work('4711')], ['1'])).toEqual(['4711']);
  expect(judge([work('4711')], ['1'])).toEqual(['4711']);
});
