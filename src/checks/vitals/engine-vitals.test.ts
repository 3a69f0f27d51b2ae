import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { unitOf } from '../../vocabulary/units.ts';
import { engineVitals, listedVitals, vitalTitle } from './engine-vitals.ts';
import { gaugesIn, growthOf, perSecond, shareOf, toRates } from './growth.ts';
import { mysqlReadings } from './mysql-readings.ts';
import { postgresReadings } from './postgres-readings.ts';
import type { Vital } from './vital.ts';

const page = readFileSync(new URL('../../../docs/reference/vitals.md', import.meta.url), 'utf8');

const row = ({ metric, title, meaning }: Vital) =>
  `| \`${metric}\` | ${title} | ${unitOf(metric).replaceAll('_', ' ')} | ${meaning} |`;

describe.each([
  ['PostgreSQL', engineVitals.postgres],
  ['MySQL and MariaDB', engineVitals.mysql],
  ['PgBouncer', engineVitals.pgbouncer],
])('%s', (engine, { vitals }) => {
  test('the reference lists its vitals, with the titles and units of the console', () => {
    const [, section = ''] = new RegExp(`\\n## ${engine}\\n([^#]*)`).exec(page) ?? [];
    expect(section.split('\n').filter((line) => line.startsWith('| `'))).toEqual(vitals.map(row));
  });

  test('each name is given once, and ends in a unit', () => {
    const metrics = vitals.map(({ metric }) => metric);
    expect(new Set(metrics).size).toBe(metrics.length);
    for (const metric of metrics)
      expect(metric).toMatch(/^[a-z][a-z_]*_(?:ratio|bytes|seconds|count|per_second)$/);
  });

  test('of 10,000 databases and as many tables only the largest are listed, and no other name', () => {
    const values = Array.from({ length: 10_000 }, (_, n) => [
      { metric: 'database_bytes', value: n, database: `db${n}` },
      { metric: 'table_bytes', value: n, object: `t${n}` },
      { metric: 'replication_lag_seconds', value: n, object: `r${n}` },
      { metric: `made_up_${n}_bytes`, value: n },
      { metric: 'connections_count', value: n },
    ]).flat();
    const listed = listedVitals(engineVitals[engine === 'PostgreSQL' ? 'postgres' : 'mysql'], values);
    const count = (name: string) => listed.filter(({ metric }) => metric === name).length;
    expect(count('database_bytes')).toBe(50);
    expect(count('table_bytes')).toBe(10);
    expect(count('connections_count')).toBe(1);
    expect(listed.find(({ metric }) => metric === 'table_bytes')?.object).toBe('t9999');
    expect(listed.filter(({ metric }) => metric.startsWith('made_up'))).toEqual([]);
  });
});

test('a vital of both engines has one title', () => {
  const { postgres, mysql } = engineVitals;
  for (const { metric, title } of [...postgres.vitals, ...mysql.vitals])
    expect(vitalTitle(metric)).toBe(title);
  expect(vitalTitle('made_up_count')).toBeNull();
});

test('no id of a reading is the id of a check', () => {
  for (const { id } of [...postgresReadings, ...mysqlReadings]) expect(id).toMatch(/^VITALS/);
});

const counter = (value: unknown, since: unknown = 'a') => [{ name: 'n', value, since }];

test.each([
  ['rose', counter(7), counter(5), 2],
  ['did not change', counter(7), counter(7), 0],
  ['fell', counter(5), counter(7), null],
  ['was reset', counter(7, 'b'), counter(5), null],
  ['is new', counter(7), [], null],
  ['is gone', [], counter(5), null],
  ['is no number', counter(Number.NaN), counter(5), null],
  ['is a text', counter('7'), counter(5), null],
  ['was no number', counter(7), counter(null), null],
  ['overflows', counter(1e308), counter(-1e308), null],
  ['is infinite', counter(Number.POSITIVE_INFINITY), counter(1), null],
])('a counter that %s', (_, now, before, grown) => {
  expect(growthOf(now, before)('n')).toBe(grown);
});

test('rates need two runs that are at least 5 s apart, and every counter', () => {
  const rows = [
    { name: 'hits', value: 90 },
    { name: 'reads', value: 10 },
    { name: 'idle', value: 0 },
  ];
  const before = { rows: rows.map(({ name }) => ({ name, value: 0 })), seconds: 10 };
  const formulas = {
    blocks_per_second: perSecond('hits', 'reads'),
    cache_hit_ratio: shareOf('hits', 'reads'),
    idle_ratio: shareOf('idle', 'idle'),
    absent_per_second: perSecond('hits', 'absent'),
  };
  expect(toRates(formulas, rows, before)).toEqual([
    { metric: 'blocks_per_second', value: 10 },
    { metric: 'cache_hit_ratio', value: 0.9 },
  ]);
  expect(toRates(formulas, rows, undefined)).toEqual([]);
  expect(toRates(formulas, rows, { ...before, seconds: 4 })).toEqual([]);
  expect(toRates(formulas, rows, { ...before, seconds: Number.NaN })).toEqual([]);
});

test('rows that are not as asked for give no value', () => {
  expect(
    gaugesIn([{ name: 1, value: 1 }, { name: 'a', value: '1' }, {}, { name: 'b', value: 2, object: 3 }]),
  ).toEqual([{ metric: 'b', value: 2, database: '', object: null }]);
});

describe('MySQL, by the rows that its manual documents', () => {
  const [status, history] = mysqlReadings;
  const shown = (values: Record<string, number | string>) =>
    Object.entries(values).map(([Variable_name, Value]) => ({ Variable_name, Value: String(Value) }));
  const at = (uptime: number, values: Record<string, number>) =>
    shown({ Uptime: uptime, Uptime_since_flush_status: uptime, ...values });
  const kept = (rows: ReturnType<typeof shown>) => status?.kept(rows) ?? [];
  const values = (now: ReturnType<typeof shown>, before: ReturnType<typeof shown>, seconds = 60) =>
    status?.values(now, { version: 80_036, before: { rows: kept(before), seconds } }) ?? [];

  const before = at(1_000, { Questions: 100, Innodb_rows_read: 10, Innodb_buffer_pool_read_requests: 100 });

  test('rates of InnoDB’s rows, and a share of page reads', () => {
    const now = { Questions: 700, Innodb_rows_read: 130, Innodb_buffer_pool_read_requests: 200 };
    const reads = (count: number) => shown({ Innodb_buffer_pool_reads: count });
    expect(values([...at(1_060, now), ...reads(20)], [...before, ...reads(10)])).toEqual([
      { metric: 'queries_per_second', value: 10 },
      { metric: 'cache_hit_ratio', value: 0.9 },
      { metric: 'rows_read_per_second', value: 2 },
    ]);
  });

  test.each([
    ['a restart', at(30, { Questions: 700 })],
    ['FLUSH STATUS', shown({ Uptime: 1_060, Uptime_since_flush_status: 30, Questions: 700 })],
    [
      'an uptime that is no number',
      shown({ Uptime: 'NaN', Uptime_since_flush_status: 1_060, Questions: 700 }),
    ],
    ['no uptime', shown({ Questions: 700 })],
  ])('%s gives a gap', (_, now) => {
    expect(values(now, before)).toEqual([]);
  });

  test('the metric of the history list, which may be off', () => {
    expect(history?.values([{ length: 12 }], { version: 80_036 })).toEqual([
      { metric: 'history_list_count', value: 12 },
    ]);
    expect(history?.values([{ length: null }], { version: 80_036 })).toEqual([]);
    expect(history?.sql(101_106)).toEqual([]);
  });
});
