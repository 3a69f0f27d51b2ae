import { expect, test } from 'vitest';
import type { Fact, ReadingKind } from './facts.ts';
import { compareReadings } from './store-readings.ts';

const compare = (kind: ReadingKind, before: Fact[], after: Fact[]) =>
  compareReadings({ kind, database: 'shop' }, { basis: '', facts: before }, { basis: '', facts: after });

test('readings of a different basis are not compared', () => {
  const facts: Fact[] = [['table', 'public.t', 'table']];
  expect(
    compareReadings({ kind: 'schema', database: '' }, { basis: 'a', facts }, { basis: 'b', facts: [] }),
  ).toEqual([]);
});

test('a setting of the server that only one reading has is not a change, one of a role is', () => {
  const facts: Fact[] = [['setting', 'work_mem', '4MB', { source: 'default' }]];
  expect(compare('setting', facts, [])).toEqual([]);
  expect(compare('setting', [], facts)).toEqual([]);
  expect(compare('role_setting', facts, [])).toMatchObject([{ before: '4MB', after: null }]);
});

test('the same setting in another place is not a change', () => {
  const at = (source: string): Fact[] => [['setting', 'work_mem', '4MB', { source }]];
  expect(compare('setting', at('default'), at('ALTER SYSTEM'))).toEqual([]);
});

test('what belongs to a table comes and goes with it, or alone', () => {
  const table: Fact = ['table', 'public.t', 'table'];
  const column: Fact = ['column', 'public.t.a', 'integer', { of: 'public.t' }];
  expect(compare('schema', [], [table, column]).map(({ kind }) => kind)).toEqual(['table']);
  expect(compare('schema', [table, column], []).map(({ kind }) => kind)).toEqual(['table']);
  expect(compare('schema', [table, column], [table]).map(({ kind }) => kind)).toEqual(['column']);
});

test('another server that started at another time is a failover, and no restart', () => {
  const server = (started: string, of: string): Fact[] => [
    ['restart', 'server', started, { of }],
    ['failover', 'role', `primary at ${of}`],
  ];
  const kinds = (after: Fact[]) => compare('server', server('a', 'one'), after).map(({ kind }) => kind);
  expect(kinds(server('b', 'one'))).toEqual(['restart']);
  expect(kinds(server('b', 'two'))).toEqual(['failover']);
});

test('values are listed with at most 200 characters, definitions with 1,000', () => {
  const long = (kind: 'setting' | 'index', text: string): Fact[] => [[kind, 'a', text]];
  const [setting] = compare('setting', long('setting', 'x'), long('setting', `y${'z'.repeat(4_000)}`));
  expect(setting?.after).toHaveLength(200);
  const [index] = compare('schema', long('index', 'x'), long('index', 'y'.repeat(1_000)));
  expect(index?.after).toHaveLength(1_000);
});
