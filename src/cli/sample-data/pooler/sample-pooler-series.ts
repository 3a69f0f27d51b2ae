import { type Course, type Curve, type SampleSeries, workCurve } from '../sample-curves.ts';
import { MOST_CLIENTS, POOL_SIZE, waiting } from './sample-pooler-faults.ts';

/** The vitals of a PgBouncer, and the share of its clients that its check compares. */
export function makePoolerSeries({ vary, work, worst, isSlow, end, seed }: Course): SampleSeries[] {
  const transactions = work(400 + 500 * vary(6), 6, 0.7);
  const share = worst('connections_used_ratio', workCurve(0.041, seed + 1, { end, most: 0.7 }));
  const wait = worst('longest_client_wait_seconds', () => 0);
  const times =
    (factor: number): Curve =>
    (at) =>
      (transactions(at) ?? 0) * factor;
  const active = work(4 + 5 * vary(8), 8, 2);
  const vital = { checkId: '', database: '', object: null, operator: null, warning: null, critical: null };
  const vitals: [string, Curve][] = [
    ['transactions_per_second', transactions],
    ['queries_per_second', times(3.4)],
    ['connections_count', (at) => Math.round((share(at) ?? 0) * MOST_CLIENTS)],
    ['waiting_clients_count', (at) => ((wait(at) ?? 0) > 0 || isSlow(at) ? waiting(seed % 20) : 0)],
    ['longest_client_wait_seconds', (at) => Math.max(wait(at) ?? 0, isSlow(at) ? 2 : 0)],
    ['active_server_connections_count', (at) => Math.min(POOL_SIZE, Math.round(active(at) ?? 0))],
    ['idle_server_connections_count', (at) => Math.max(0, POOL_SIZE - Math.round(active(at) ?? 0))],
    ['transaction_mean_seconds', work(0.006 + 0.004 * vary(9), 9, 6)],
    ['query_mean_seconds', work(0.0015 + 0.001 * vary(10), 10, 6)],
    ['client_wait_mean_seconds', (at) => (isSlow(at) ? 0.8 : 0.0002)],
    ['received_bytes_per_second', times(900)],
    ['sent_bytes_per_second', times(2_600)],
  ];
  return [
    ...vitals.map(([metric, curve]) => ({ ...vital, metric, curve })),
    {
      ...vital,
      checkId: 'PB_CLIENT_LIMIT',
      metric: 'connections_used_ratio',
      operator: '>=',
      warning: 0.8,
      critical: 0.95,
      limit: 1,
      curve: share,
    },
  ];
}
