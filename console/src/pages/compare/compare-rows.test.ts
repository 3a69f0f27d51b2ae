import { expect, test } from 'vitest';
import { areForeign, type Compared, comparedRows } from './compare-rows.ts';
import { compareSearch } from './compare-search.ts';

type Fact = Compared['facts'][number];
const setting = (subject: string, value: string, database = ''): Fact => ({
  kind: 'setting',
  subject,
  value,
  database,
  source: null,
});

const connection = (score: number, facts: Fact[]): Compared => ({
  detail: {
    score,
    settings: { engine: 'postgres', tags: [] } as unknown as Compared['detail']['settings'],
    open_tickets: 2,
    latest: null,
  },
  facts,
  measures: [],
});

test('rows have what either connection has, and tell what differs', () => {
  const rows = comparedRows([
    connection(90, [
      setting('work_mem', '4MB'),
      setting('fsync', 'on'),
      setting('conninfo', 'hidden (0a1b2c3d)'),
    ]),
    connection(40, [
      setting('work_mem', '8MB'),
      setting('fsync', 'on'),
      setting('conninfo', 'hidden (ffffffff)'),
      setting('jit', 'off', 'shop'),
    ]),
  ]);
  expect(rows.map(({ name, values, differs }) => [name, ...values, differs])).toEqual([
    ['Engine', 'PostgreSQL', 'PostgreSQL', false],
    ['Score', '90', '40', true],
    ['Open tickets', '2', '2', false],
    ['Tags', 'none', 'none', false],
    // Each is hashed with another key.
    ['conninfo', 'hidden (0a1b2c3d)', 'hidden (ffffffff)', false],
    ['fsync', 'on', 'on', false],
    ['jit in shop', null, 'off', true],
    ['work_mem', '4MB', '8MB', true],
  ]);
});

test('findings of objects of one name in two databases are two rows', () => {
  const finding = (database: string, object: string | null) => ({
    check_id: 'PG_DEAD_TUPLES',
    title: 'Dead rows',
    database,
    object,
    status: 'warning',
    metric_line: `of ${database}`,
  });
  const { detail, ...rest } = connection(90, []);
  const findings = [finding('shop', 'public.orders'), finding('audit', 'public.orders'), finding('', null)];
  const latest = { findings } as unknown as Compared['detail']['latest'];
  const rows = comparedRows([connection(90, []), { ...rest, detail: { ...detail, latest } }]);
  expect(
    rows.filter(({ section }) => section === 'Findings').map(({ name, values }) => [name, values[1]]),
  ).toEqual([
    ['Dead rows (PG_DEAD_TUPLES)', 'warning: of '],
    ['Dead rows public.orders in audit (PG_DEAD_TUPLES)', 'warning: of audit'],
    ['Dead rows public.orders in shop (PG_DEAD_TUPLES)', 'warning: of shop'],
  ]);
});

test.each([
  [
    { a: '3', b: '17', show: 'all' },
    { a: '3', b: '17', show: 'all' },
  ],
  [{ a: '-1', b: 'x', show: '<script>' }, {}],
  [{}, {}],
])('the address %j means %j', (given, search) => {
  expect(compareSearch(given)).toEqual(search);
});

test('of different engines, only what both have is compared', () => {
  const mariadb = (facts: Fact[]): Compared => {
    const { detail, ...rest } = connection(40, facts);
    return { ...rest, detail: { ...detail, settings: { ...detail.settings, engine: 'mariadb' } } };
  };
  const names = (of: [Compared, Compared]) => comparedRows(of).map(({ name }) => name);
  const [ours, theirs] = [setting('max_connections', '100'), setting('max_connections', '151')];
  const pair: [Compared, Compared] = [
    connection(90, [ours, setting('shared_buffers', '1GB')]),
    mariadb([theirs, setting('innodb_buffer_pool_size', '1GB')]),
  ];
  expect(areForeign(pair)).toBe(true);
  expect(names(pair)).toEqual(['Engine', 'Score', 'Open tickets', 'Tags', 'max_connections']);
  expect(areForeign([mariadb([]), mariadb([])])).toBe(false);
});
