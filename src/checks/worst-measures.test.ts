import { expect, test } from 'vitest';
import { judgementOf } from './judgement-of.ts';
import type { Measure } from './measure.ts';
import { cacheHitLow } from './postgres/cache-hit-low.ts';
import { deadTuples } from './postgres/dead-tuples.ts';
import { duplicateIndex } from './postgres/duplicate-index.ts';
import { longXact } from './postgres/long-xact.ts';
import { atLeast, atMost, faultMeasure, listHighest, uncompared, worstOf } from './worst-measures.ts';

const facts = { version: 180_004, database: 'shop', now: new Date('2026-11-21') };
const values = (measures: readonly Measure[] = []) => measures.map(({ object, value }) => [object, value]);
const of = (scale: Omit<Measure, 'object' | 'value'>, numbers: number[]): Measure[] =>
  numbers.map((value, n) => ({ ...scale, object: `t${n}`, value }));

test('the worst five are the highest, or the lowest of what must stay high', () => {
  const numbers = [3, 9, 1, 7, 5, 8, 2];
  expect(worstOf(of(atLeast('a_count', 4), numbers)).map(({ value }) => value)).toEqual([9, 8, 7, 5, 3]);
  expect(worstOf(of(atMost('a_count', 4), numbers)).map(({ value }) => value)).toEqual([1, 2, 3, 5, 7]);
});

test('values that are compared with nothing come last, and what is no number is left out', () => {
  const judged = of(atMost('a_ratio', 0.5), [0.9, Number.NaN]);
  const unjudged = of(uncompared('a_ratio'), [0.1, Number.POSITIVE_INFINITY]);
  expect(worstOf([...unjudged, ...judged]).map(({ value }) => value)).toEqual([0.9, 0.1]);
});

test.each([
  [atLeast('a_count', 2, 5), 5, 5],
  [atLeast('a_count', 2, 5), 4, 2],
  [atLeast('a_count', null, 5), 6, 5],
  [atMost('a_count', 5, 2), 2, 2],
  [atMost('a_count', 5, 2), 3, 5],
])('a fault names the gravest threshold that it crosses: %j, %i', (scale, value, threshold) => {
  const { metric, operator } = scale;
  expect(faultMeasure({ ...scale, object: null, value })).toEqual({ metric, value, operator, threshold });
});

test('the highest value of a server is reported in every run, objects only near the threshold', () => {
  const scale = atLeast('a_seconds', 100);
  expect(values(listHighest(scale, []))).toEqual([[null, 0]]);
  const sessions = [89, 90, 300, 120, 110, 130, 105].map((value) => ({ object: `s${value}`, value }));
  expect(values(listHighest(scale, sessions))).toEqual([
    [null, 300],
    ['s300', 300],
    ['s130', 130],
    ['s120', 120],
    ['s110', 110],
    ['s105', 105],
  ]);
});

const relation = {
  tables: 400,
  standby: false,
  track_counts: true,
  counted_seconds: 864_000,
  found: true,
  unseen: null,
};

test('of many tables the worst five are reported, below the threshold too, and how many are over it', () => {
  const rows = [0.9, 0.4, 0.35, 0.2, 0.09, 0.08, 0.07].map((share, n) => ({
    ...relation,
    table_name: `public.t${n}`,
    dead: 20_000,
    share,
  }));
  const tiny = { ...relation, table_name: 'public.tiny', dead: 60, share: 1 };
  const judgement = judgementOf(deadTuples, [tiny, ...rows], {
    ...facts,
    thresholds: { warning: 0.2 },
  });
  expect(judgement).toMatchObject({
    faults: [0.9, 0.4, 0.35, 0.2].map((value) => ({ measured: { value, threshold: 0.2 } })),
    measures: [
      { metric: 'tables_with_dead_rows_count', object: null, value: 4, warning: 1 },
      { metric: 'dead_rows_ratio', object: 'public.t0', value: 0.9, warning: 0.2, critical: null },
      { object: 'public.t1', value: 0.4 },
      { object: 'public.t2', value: 0.35 },
      { object: 'public.t3', value: 0.2 },
      { object: 'public.t4', value: 0.09 },
    ],
  });
  expect('measures' in judgement && judgement.measures).toHaveLength(6);
});

test('a list reports how many objects the server has counted, and 0 if there are none', () => {
  const index = {
    ...relation,
    total: 3_000,
    schema_name: 'public',
    index_name: 'public.i',
    table_name: 'public.t',
    kept_names: ['public.j'],
    bytes: 8192,
    constraint_name: null,
    partitioned: false,
  };
  const count = (value: number) => [{ metric: 'duplicate_indexes_count', object: null, value }];
  expect(judgementOf(duplicateIndex, [index], facts)).toMatchObject({ measures: count(3_000) });
  const none = { ...relation, found: null, unseen: null, total: null };
  expect(judgementOf(duplicateIndex, [none], facts)).toMatchObject({ faults: [], measures: count(0) });
});

test('a ratio under its threshold is compared with nothing where too few blocks were read for a fault', () => {
  const row = (hits: number, reads: number) => ({
    object: 'shop',
    hits,
    reads,
    buffers: 2 ** 27,
    reset: 1,
    started: 1,
  });
  const measured = (hits: number, reads: number) => {
    const before = { rows: [row(0, 0)], seconds: 300 };
    const judgement = judgementOf(cacheHitLow, [row(hits, reads)], { ...facts, before });
    return 'measures' in judgement ? judgement.measures : undefined;
  };
  const scale = { metric: 'cache_hit_ratio', object: 'shop' };
  expect(measured(50_000, 50_000)).toEqual([{ ...scale, value: 0.5, ...atMost('cache_hit_ratio', 0.95) }]);
  expect(measured(90_000, 0)).toEqual([{ ...scale, value: 1, ...atMost('cache_hit_ratio', 0.95) }]);
  expect(measured(6_000, 6_000)).toEqual([{ ...scale, value: 0.5, ...uncompared('cache_hit_ratio') }]);
  expect(measured(9_000, 999)).toEqual([]);
});

test('without a session the longest transaction took 0 s', () => {
  const rows = [{ sees_all: true, me: 'watcher', age: null, ages: null }];
  expect(judgementOf(longXact, rows, facts)).toMatchObject({
    measures: [
      { metric: 'longest_transaction_seconds', object: null, value: 0, warning: 3600, critical: null },
    ],
  });
});
