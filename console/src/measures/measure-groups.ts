import type { LatestMeasure } from '../../../src/console-api/measures/measure-schemas.ts';
import { metricWords } from '../../../src/platform/text/metric-words.ts';
import type { Unit } from '../../../src/vocabulary/units.ts';

/** The measures of one chart, all in one unit. */
export interface ChartOf {
  key: string;
  title: string;
  unit: Unit;
  /** The most important first. */
  measures: LatestMeasure[];
}

/** The part of an address that names a chart of a page. */
export function chartAnchor(key: string): string {
  return `chart-${key.replaceAll(/\W+/g, '-')}`;
}

/** Whether the page was opened with a link to this chart. */
export function isLinkedTo(key: string): boolean {
  return location.hash === `#${chartAnchor(key)}`;
}

/** Charts below a heading. */
export interface ChartGroupOf {
  title: string;
  charts: ChartOf[];
}

/** The vitals of all engines: headings, and which metrics share a chart. */
const LAYOUT: { title: string; charts: { title?: string; metrics: string[] }[] }[] = [
  {
    title: 'Workload',
    charts: [
      { title: 'Transactions', metrics: ['transactions_per_second', 'rollbacks_per_second'] },
      { title: 'Queries', metrics: ['queries_per_second', 'slow_queries_per_second'] },
      { title: 'Traffic', metrics: ['received_bytes_per_second', 'sent_bytes_per_second'] },
      {
        title: 'Mean times',
        metrics: ['transaction_mean_seconds', 'query_mean_seconds', 'client_wait_mean_seconds'],
      },
      { metrics: ['rows_read_per_second'] },
      { metrics: ['rows_written_per_second'] },
      { metrics: ['cache_hit_ratio'] },
      { metrics: ['temporary_bytes_per_second'] },
      { metrics: ['temporary_disk_tables_per_second'] },
    ],
  },
  {
    title: 'Connections and locks',
    charts: [
      {
        title: 'Connections',
        metrics: [
          'connections_count',
          'active_connections_count',
          'idle_connections_count',
          'idle_in_transaction_connections_count',
        ],
      },
      {
        title: 'Server connections',
        metrics: ['active_server_connections_count', 'idle_server_connections_count'],
      },
      { metrics: ['waiting_clients_count'] },
      { metrics: ['longest_client_wait_seconds'] },
      {
        title: 'Connections opened and lost',
        metrics: ['opened_connections_per_second', 'lost_connections_per_second'],
      },
      {
        title: 'Longest transaction and query',
        metrics: ['longest_transaction_seconds', 'longest_query_seconds'],
      },
      { metrics: ['lock_waiters_count'] },
      { metrics: ['row_lock_waits_per_second'] },
      { metrics: ['deadlocks_per_second'] },
    ],
  },
  {
    title: 'Log and replication',
    charts: [
      { metrics: ['wal_bytes_per_second'] },
      { metrics: ['redo_bytes_per_second'] },
      { title: 'Checkpoints', metrics: ['checkpoints_per_second', 'requested_checkpoints_per_second'] },
      { metrics: ['replication_lag_bytes'] },
      { metrics: ['replication_lag_seconds'] },
    ],
  },
  {
    title: 'Storage and maintenance',
    charts: [
      { metrics: ['database_bytes'] },
      { metrics: ['table_bytes'] },
      { metrics: ['index_bytes'] },
      { metrics: ['transaction_id_age_count'] },
      { metrics: ['autovacuum_workers_count'] },
      { metrics: ['history_list_count'] },
    ],
  },
];

const PLACED = new Set(LAYOUT.flatMap(({ charts }) => charts.flatMap(({ metrics }) => metrics)));

/** The furthest first; of values that must not fall, the lowest. */
function byWeight(one: LatestMeasure, other: LatestMeasure): number {
  return one.operator === '<=' ? one.value - other.value : other.value - one.value;
}

/** The charts of vitals below their headings. A vital that this console does not know has a chart of its own. */
export function vitalGroups(measures: readonly LatestMeasure[]): ChartGroupOf[] {
  const vitals = Map.groupBy(
    measures.filter(({ check_id }) => check_id === ''),
    ({ metric }) => metric,
  );
  const others = [...vitals.keys()]
    .filter((metric) => !PLACED.has(metric))
    .map((metric) => ({ metrics: [metric] }));
  return [...LAYOUT, { title: 'Other', charts: others }]
    .map(({ title, charts }) => ({
      title,
      charts: charts.flatMap((chart: { title?: string; metrics: string[] }) => {
        const found = chart.metrics.flatMap((metric) => (vitals.get(metric) ?? []).toSorted(byWeight));
        const [first] = found;
        return first
          ? [
              {
                key: first.metric,
                title: found.some(({ metric }) => metric !== first.metric)
                  ? (chart.title ?? first.title)
                  : first.title,
                unit: first.unit,
                measures: found,
              },
            ]
          : [];
      }),
    }))
    .filter(({ charts }) => charts.length > 0);
}

/** The charts of checks, by title: one for each metric. */
export function checkCharts(measures: readonly LatestMeasure[]): ChartOf[] {
  const ofChecks = measures.filter(({ check_id }) => check_id !== '');
  const checks = Map.groupBy(ofChecks, ({ check_id }) => check_id);
  const charts = Map.groupBy(ofChecks, ({ check_id, metric }) => `${check_id} ${metric}`);
  return [...charts]
    .flatMap(([key, found]): ChartOf[] => {
      const [first] = found;
      if (!first) return [];
      const isOnly = checks.get(first.check_id)?.every(({ metric }) => metric === first.metric);
      const title = isOnly ? first.title : `${first.title}: ${metricWords(first.metric)}`;
      return [{ key, title, unit: first.unit, measures: found.toSorted(byWeight) }];
    })
    .toSorted((one, other) => one.title.localeCompare(other.title));
}

type Measured = Pick<LatestMeasure, 'metric' | 'object' | 'database'>;

/** The title of a chart with one measure: what is measured, and where. */
export function chartTitle({ metric, object, database }: Measured): string {
  return [metricWords(metric), placeText({ object, database })].filter((part) => part !== '').join(': ');
}

/** Where a value was measured: `orders in shop`; '' for the whole server. */
export function placeText({ object, database }: Pick<LatestMeasure, 'object' | 'database'>): string {
  return [object, database].filter((part) => part !== null && part !== '').join(' in ');
}

/** The name of a measure in its chart: its object and database, or its title for the whole server. */
export function lineLabel({
  object,
  database,
  title,
}: Pick<LatestMeasure, 'object' | 'database' | 'title'>): string {
  return placeText({ object, database }) || title;
}
