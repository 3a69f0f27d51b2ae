import { expect, test } from 'vitest';
import type { LatestMeasure } from '../../../src/console-api/measures/measure-schemas.ts';
import { checkCharts, lineLabel, vitalGroups } from './measure-groups.ts';

let made = 0;

function measure(metric: string, given: Partial<LatestMeasure> = {}): LatestMeasure {
  made += 1;
  return {
    series_id: made,
    check_id: '',
    metric,
    title: metric,
    unit: 'count',
    database: '',
    object: null,
    value: 1,
    operator: null,
    warning: null,
    critical: null,
    limit: null,
    forecast: null,
    ...given,
  };
}

const titles = (measures: LatestMeasure[]) =>
  vitalGroups(measures).map(({ title, charts }) => [title, charts.map((chart) => chart.title)]);

test('related vitals share a chart below a heading', () => {
  const both = [measure('rollbacks_per_second'), measure('transactions_per_second', { title: 'Own' })];
  expect(titles(both)).toEqual([['Workload', ['Transactions']]]);
  expect(vitalGroups(both)[0]?.charts[0]?.measures.map(({ metric }) => metric)).toEqual([
    'transactions_per_second',
    'rollbacks_per_second',
  ]);
});

test('a vital that is alone in its chart gives it its title', () => {
  expect(titles([measure('longest_query_seconds', { title: 'Longest query' })])).toEqual([
    ['Connections and locks', ['Longest query']],
  ]);
});

test('an unknown vital has a chart of its own', () => {
  expect(titles([measure('new_count', { title: 'New' })])).toEqual([['Other', ['New']]]);
});

test('of objects, the largest come first, and the lowest where values must not fall', () => {
  const of = (operator: LatestMeasure['operator']) =>
    vitalGroups(
      [1, 3, 2].map((value) => measure('table_bytes', { value, operator })),
    )[0]?.charts[0]?.measures.map(({ value }) => value);
  expect(of('>=')).toEqual([3, 2, 1]);
  expect(of('<=')).toEqual([1, 2, 3]);
});

test('a check has a chart per metric, named after the metric if it has several', () => {
  const of = (check_id: string, metric: string) => measure(metric, { check_id, title: check_id });
  const charts = checkCharts([
    of('B', 'dead_rows_ratio'),
    of('B', 'tables_count'),
    of('A', 'x_count'),
    measure('v'),
  ]);
  expect(charts.map(({ title }) => title)).toEqual(['A', 'B: Dead rows', 'B: Tables']);
});

test('a line is named after its object and database, or its title', () => {
  expect(lineLabel(measure('x', { object: 'orders', database: 'shop' }))).toBe('orders in shop');
  expect(lineLabel(measure('x', { database: 'shop' }))).toBe('shop');
  expect(lineLabel(measure('x', { title: 'Connections' }))).toBe('Connections');
});
