import { expect, test } from 'vitest';
import type { Row } from './fault.ts';
import { type AdviceItem, type IndexAdvice, planIndexes } from './index-plan.ts';

const item = (advice: IndexAdvice): AdviceItem => ({ row: { advice }, advice });
const unused = (index: string, ...purposes: string[][]) =>
  item({ action: 'drop', because: 'unused', index, purposes });
const covered = (index: string, ...by: string[]) =>
  item({
    action: 'drop',
    because: 'covered',
    index,
    purposes: [by],
    coveredBy: (name) => ({ by: name }),
  });
const other = (action: 'keep' | 'rebuild', index: string) => item({ action, index });

/** What is left of the advice: `drop a`, or `drop a, b covers it` where the plan names another index. */
function planned(...items: AdviceItem[]): string[] {
  const plan = planIndexes(items);
  return items.flatMap(({ row, advice }) => {
    const change: Row | null | undefined = plan.get(row);
    if (change === null || advice.action === 'create' || advice.action === 'key') return [];
    const by = change === undefined ? '' : `, ${change['by']} covers it`;
    return [`${advice.action} ${advice.index}${by}`];
  });
}

test('an index that alone serves a foreign key is not dropped; of two, one goes', () => {
  expect(planned(unused('a', []))).toEqual([]);
  expect(planned(unused('a', ['b']))).toEqual(['drop a']);
  expect(planned(unused('a', ['b']), unused('b', ['a']))).toEqual(['drop a']);
  expect(planned(unused('a', ['b'], []))).toEqual([]);
});

test('of an index and a longer one, one stays: the one that is used', () => {
  expect(planned(covered('a', 'ab'), unused('ab'))).toEqual(['drop ab']);
  expect(planned(covered('a', 'ab'), unused('ab'), unused('a'))).toEqual(['drop a']);
  expect(planned(covered('a', 'ab'), unused('a'))).toEqual(['drop a']);
  expect(planned(covered('a', 'ab'), unused('ab', []))).toEqual(['drop a']);
  expect(planned(covered('a', 'ab', 'ac'), unused('ab'))).toEqual(['drop a, ac covers it', 'drop ab']);
});

test('a chain goes down to the longest, and what covers a dropped index is named as it stays', () => {
  expect(planned(covered('a', 'ab', 'abc'), covered('ab', 'abc'))).toEqual([
    'drop a, abc covers it',
    'drop ab',
  ]);
  expect(planned(covered('a', 'ab'), covered('ab', 'abc'), unused('abc'))).toEqual(['drop a', 'drop abc']);
});

test('each index is under one check, and one that becomes a key stays', () => {
  expect(planned(covered('a', 'b'), unused('a'), covered('a', 'c'), other('rebuild', 'a'))).toEqual([
    'drop a',
  ]);
  expect(planned(other('rebuild', 'a'), other('rebuild', 'b'), unused('a'))).toEqual(['rebuild b', 'drop a']);
  expect(planned(covered('a', 'b'), other('keep', 'a'))).toEqual(['keep a']);
});

test('what serves instead of an invalid index stays', () => {
  const { row, advice } = covered('a', 'b');
  expect(planned(unused('b'), { row, advice: { ...advice, isInvalid: true } as IndexAdvice })).toEqual([
    'drop a',
  ]);
});

test('indexes that cover each other do not both go', () => {
  expect(planned(covered('a', 'b'), covered('b', 'a'))).toEqual(['drop a']);
});

test('one new index serves the foreign keys whose columns it can begin with', () => {
  const key = (table: string, ...columns: string[]): AdviceItem =>
    item({ action: 'create', table, columns, inOrder: (order) => ({ order }) });
  const [a, b, ba, abc, other] = [
    key('t', 'a'),
    key('t', 'b'),
    key('t', 'b', 'a'),
    key('t', 'c', 'a', 'b'),
    key('u', 'a'),
  ];
  expect([...planIndexes([ba, a, abc, b, other])]).toEqual([
    [ba.row, null],
    [a.row, null],
    [abc.row, { order: ['a', 'b', 'c'] }],
  ]);
  expect([...planIndexes([a, other])]).toEqual([]);
});

test('whatever is dropped, each purpose has an index afterwards', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  for (let round = 0; round < 500; round++) {
    const names = [...'abcdef'].slice(0, 2 + random(5));
    const some = (index: string) => names.filter((name) => name > index && random(2) === 0);
    const items = names.flatMap((index) => {
      const by = some(index);
      const keys = Array.from({ length: random(3) }, () =>
        names.filter((name) => name !== index && random(2) === 0),
      );
      return [
        ...(random(2) === 0 ? [unused(index, ...keys)] : []),
        ...(by.length > 0 ? [covered(index, ...by)] : []),
      ];
    });
    const plan = planIndexes(items);
    const dropped = items.filter(({ row }) => plan.get(row) !== null).map(({ advice }) => advice);
    const gone = new Map(
      dropped.flatMap((advice) => (advice.action === 'drop' ? [[advice.index, advice]] : [])),
    );
    expect(gone.size, `round ${round}: no index twice`).toBe(dropped.length);
    const isServed = (purpose: readonly string[]): boolean =>
      purpose.some((name) => {
        const advice = gone.get(name);
        return !advice || (advice.because === 'covered' && isServed(advice.purposes[0] ?? []));
      });
    for (const { purposes } of gone.values()) for (const each of purposes) expect(isServed(each)).toBe(true);
  }
});

test('a foreign key whose columns become the first ones of a primary key asks for no index', () => {
  const asked = (table: string, ...columns: string[]) =>
    item({ action: 'create', table, columns, inOrder: (order) => ({ order }) });
  const [own, elsewhere, wider] = [asked('t', 'id'), asked('u', 'id'), asked('t', 'id', 'a')];
  const plan = planIndexes([own, elsewhere, wider, item({ action: 'key', table: 't', columns: ['id'] })]);
  expect([own, elsewhere, wider].map(({ row }) => plan.get(row))).toEqual([null, undefined, undefined]);
});
