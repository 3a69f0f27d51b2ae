import type { Row } from '../fault.ts';
import { figure, LISTS, listed, POOLS, poolsIn, STATS } from '../pgbouncer/console.ts';
import { type Formulas, type Growth, perSecond, toRates } from './growth.ts';
import type { VitalReading, VitalValue } from './vital.ts';

const COUNTERS = [
  'total_xact_count',
  'total_query_count',
  'total_received',
  'total_sent',
  'total_xact_time',
  'total_query_time',
  'total_wait_time',
];

/** Microseconds of a counter for each of another, in seconds. */
function meanOf(time: string, count: string) {
  return (grown: Growth): number | null => {
    const [microseconds, times] = [grown(time), grown(count)];
    return microseconds === null || times === null || times === 0 ? null : microseconds / times / 1e6;
  };
}

const RATES: Formulas = {
  transactions_per_second: perSecond('total_xact_count'),
  queries_per_second: perSecond('total_query_count'),
  received_bytes_per_second: perSecond('total_received'),
  sent_bytes_per_second: perSecond('total_sent'),
  transaction_mean_seconds: meanOf('total_xact_time', 'total_xact_count'),
  query_mean_seconds: meanOf('total_query_time', 'total_query_count'),
  client_wait_mean_seconds: meanOf('total_wait_time', 'total_xact_count'),
};

/** The counters of all databases together. The console's own count as well: no version leaves them out of its totals. */
function totals(rows: readonly Row[]): Row[] {
  const stats = rows.filter((row) => 'total_xact_count' in row);
  return COUNTERS.map((name) => ({
    name,
    value: stats.reduce((sum, row) => sum + figure(row, name), 0),
  }));
}

function gauges(rows: readonly Row[]): VitalValue[] {
  const pools = poolsIn(rows);
  const sum = (of: (pool: (typeof pools)[number]) => number) =>
    pools.reduce((all, pool) => all + of(pool), 0);
  return [
    {
      metric: 'connections_count',
      value: listed(rows, 'used_clients') + listed(rows, 'login_clients'),
    },
    { metric: 'waiting_clients_count', value: sum(({ waiting }) => waiting) },
    {
      metric: 'longest_client_wait_seconds',
      value: Math.max(0, ...pools.map(({ waitSeconds }) => waitSeconds)),
    },
    { metric: 'active_server_connections_count', value: sum(({ active }) => active) },
    {
      metric: 'idle_server_connections_count',
      value: sum(({ established, active }) => established - active),
    },
  ];
}

/** How the vitals of PgBouncer are read. */
export const pgbouncerReadings: readonly VitalReading[] = [
  {
    id: 'VITALS_POOLS',
    scope: 'server',
    what: 'traffic and pools',
    sql: () => [POOLS, LISTS, STATS],
    kept: totals,
    values: (rows, { before }) => [...gauges(rows), ...toRates(RATES, totals(rows), before)],
  },
];
