import { expect, test } from 'vitest';
import { otlpName } from './otlp-names.ts';
import { toMetrics } from './push-otlp.ts';

test.each([
  ['postgres', '', 'connections_count', 'postgresql.backends', '1', {}],
  [
    'postgres',
    '',
    'idle_connections_count',
    'db.client.connection.count',
    '{connection}',
    { 'db.client.connection.state': 'idle' },
  ],
  ['postgres', '', 'database_bytes', 'postgresql.db_size', 'By', {}],
  ['postgres', '', 'transactions_per_second', 'dbvitals.transactions_per_second', '1/s', {}],
  ['postgres', 'PG_REPLICATION_LAG', 'replication_lag_bytes', 'dbvitals.replication_lag_bytes', 'By', {}],
  ['mysql', '', 'active_connections_count', 'mysql.threads', '1', { kind: 'running' }],
  ['mariadb', '', 'index_bytes', 'mysql.table.size', 'By', { kind: 'index' }],
  ['mysql', '', 'database_bytes', 'dbvitals.database_bytes', 'By', {}],
  ['mysql', '', 'toString', 'dbvitals.toString', '1', {}],
] as const)('%s %s %s is %s', (engine, check_id, metric, name, unit, attributes) => {
  expect(otlpName({ check_id, metric }, engine)).toEqual({ name, unit, attributes });
});

test('values of one name are one metric with a point for each place', () => {
  const connections = [
    { connection_id: 1, name: 'shop', engine: 'postgres' as const, measured_at: 5 },
    { connection_id: 2, name: 'cart', engine: 'mariadb' as const, measured_at: 6 },
  ];
  const value = {
    series_id: 1,
    check_id: '',
    metric: 'cache_hit_ratio',
    database: '',
    object: null,
    value: 0.5,
  };
  const values = [
    { ...value, connection_id: 1, database: 'a', object: 'b' },
    { ...value, connection_id: 2, check_id: 'MY_X' },
  ];
  const metrics = toMetrics({ connections, values, leftOut: 0 }, 1_500);
  expect(metrics.map(({ descriptor }) => descriptor.name)).toEqual([
    'dbvitals.cache_hit_ratio',
    'dbvitals.measured_time',
  ]);
  expect(metrics[0]?.dataPoints).toEqual([
    {
      startTime: [1, 500_000_000],
      endTime: [1, 500_000_000],
      value: 0.5,
      attributes: {
        'db.system.name': 'postgresql',
        'dbvitals.connection.id': 1,
        'dbvitals.connection.name': 'shop',
        'db.namespace': 'a',
        'dbvitals.object': 'b',
      },
    },
    {
      startTime: [1, 500_000_000],
      endTime: [1, 500_000_000],
      value: 0.5,
      attributes: {
        'db.system.name': 'mariadb',
        'dbvitals.connection.id': 2,
        'dbvitals.connection.name': 'cart',
        'dbvitals.check.id': 'MY_X',
      },
    },
  ]);
});
