import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf } from '../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import {
  selectFleetDays,
  selectFleetHours,
  selectFleetSeries,
  selectFleetTail,
} from '../../runs/measures/read-fleet-history.ts';
import { prepareMeasures, storeMeasures } from '../../runs/measures/store-measures.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { FleetMeasures, FleetMetrics } from '../measures/measure-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;

beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const METRIC = 'replication_lag_bytes';

/** A connection whose latest run, now, measured these lags, by standby. */
async function measured(accountId: number, lags: Record<string, number>): Promise<number> {
  const connectionId = await store.connection(accountId);
  const key = { accountId, connectionId };
  const none = { operator: null, warning: null, critical: null };
  const values = Object.entries(lags).map(([object, value]) => ({
    checkId: '',
    metric: METRIC,
    database: '',
    object,
    value,
    ...none,
  }));
  const prepared = await prepareMeasures(store.writer, key, values);
  await changeAccount(store.writer, accountId, ({ client, at }) =>
    storeMeasures(client, { ...key, at }, prepared),
  );
  return connectionId;
}

// A run every 5 minutes for 6 hours, hours for 60 days, days for 13 months; the number is the value.
const insertRuns = `
  insert into measure_run (account_id, connection_id, measured_at, values)
  select $1, c, date_trunc('minute', now()) - n * interval '5 min', array[$3::real, 0]
    from unnest($2::bigint[]) c, generate_series(1, 72) n`;
const insertHours = `
  insert into measure_hour (account_id, connection_id, series_id, day, last)
  select $1, c, 1, day::date, array_fill($3::real, array[case when day::date = now()::date then extract(hour from now())::int + 1 else 24 end])
    from unnest($2::bigint[]) c, generate_series((now() - interval '60 days')::date, now()::date, '1 day') day`;
const insertDays = `
  insert into measure_day (account_id, connection_id, series_id, month, last, mean)
  select $1, c, 1, month::date, array_fill(99::real, array[31]),
         array_fill($3::real, array[(least(month + interval '1 month', date_trunc('day', now()))::date - month::date)])
    from unnest($2::bigint[]) c,
         generate_series(date_trunc('month', now() - interval '13 months'), now(), '1 month') month`;

async function writeHistory(accountId: number, connections: number[], value: number): Promise<void> {
  for (const statement of [insertRuns, insertHours, insertDays]) {
    await store.writer.query(statement, [accountId, connections, value]);
  }
}

const pathOf = (connections: number[], range = '24h') =>
  `/fleet/measures?metric=${METRIC}&connections=${connections.join()}&range=${range}`;

test('each range has at most 60 points without gaps, of the series that is worst now', async () => {
  const { accountId, read } = await testConsole.owner();
  const connection = await measured(accountId, { '"near"': 7, '"far"': 3 });
  await writeHistory(accountId, [connection], 5);
  for (const [range, least] of [
    ['1h', 11],
    ['24h', 28],
    ['7d', 55],
    ['30d', 29],
    ['13mo', 50],
  ] as const) {
    const answer = await read<FleetMeasures>(pathOf([connection], range));
    const [{ at, last } = { at: [], last: [] }] = answer.connections;
    expect(last.length, range).toBeGreaterThanOrEqual(least);
    expect(last.length, range).toBeLessThanOrEqual(60);
    expect(at, range).toEqual(at.toSorted((a, b) => a - b));
    expect([new Set(at).size, at.length], range).toEqual([last.length, last.length]);
    // The latest value, but not after the means of days.
    expect(last.at(-1), range).toBe(range === '30d' || range === '13mo' ? 5 : 7);
    expect(new Set(last.slice(0, -1)), range).toEqual(new Set([5]));
    expect(at[0], range).toBeGreaterThan(Date.parse(answer.from) / 1_000);
    expect(at.at(-1), range).toBeLessThanOrEqual(Date.parse(answer.to) / 1_000);
  }
});

test('where nothing was measured there is a gap', async () => {
  const { accountId, read } = await testConsole.owner();
  const connection = await measured(accountId, { '"near"': 7 });
  await writeHistory(accountId, [connection], 5);
  const root = await store.superuser('store');
  await root.query('delete from measure_run where account_id = $1', [accountId]);
  const { connections } = await read<FleetMeasures>(pathOf([connection]));
  expect(connections[0]?.last.slice(-3)).toEqual([5, null, 7]);
});

test('connections keep the order of the request; one of another account, or removed, is left out', async () => {
  const { accountId, read } = await testConsole.owner();
  const [first, second, removed] = [
    await measured(accountId, { '"near"': 1 }),
    await measured(accountId, {}),
    await measured(accountId, { '"near"': 3 }),
  ];
  const other = await testConsole.owner();
  const theirs = await measured(other.accountId, { '"near"': 4 });
  await writeHistory(other.accountId, [theirs], 5);
  await store.writer.query(
    'update connection set removed_at = now() where account_id = $1 and connection_id = $2',
    [accountId, removed],
  );
  const { connections } = await read<FleetMeasures>(pathOf([second, theirs, removed, first]));
  expect(connections).toEqual([
    { connection_id: second, at: [], last: [] },
    { connection_id: first, at: [expect.any(Number)], last: [1] },
  ]);
});

test('a wrong request gets a sentence', async () => {
  const { refused } = await testConsole.owner();
  const invalid = (parameter: string, message: string) => [400, 'invalid_parameter', message, parameter];
  const connections = 'connections must be 1 to 100 ids of connections, separated by commas.';
  const many = Array.from({ length: 101 }, (_, n) => n + 1);
  expect(await refused(pathOf(many))).toEqual(invalid('connections', connections));
  expect(await refused(`/fleet/measures?metric=${METRIC}`)).toEqual(invalid('connections', connections));
  const metric = 'metric must be the name of a metric, such as transactions_per_second.';
  expect(await refused('/fleet/measures?connections=1')).toEqual(invalid('metric', metric));
  expect(await refused('/fleet/measures?connections=1&metric=A')).toEqual(invalid('metric', metric));
  const range = 'range must be 1h, 24h, 7d, 30d or 13mo.';
  expect(await refused(pathOf([1], '1y'))).toEqual(invalid('range', range));
});

test('the metrics to choose from are the vital signs of all engines', async () => {
  const { read } = await testConsole.owner();
  const { metrics } = await read<FleetMetrics>('/fleet/metrics');
  expect(metrics).toContainEqual({
    metric: 'transactions_per_second',
    title: 'Transactions',
    unit: 'per_second',
    engines: ['postgres', 'pgbouncer'],
  });
  expect(metrics.find(({ metric }) => metric === 'deadlocks_per_second')?.engines).toContain('mysql');
  expect(new Set(metrics.map(({ metric }) => metric)).size).toBe(metrics.length);
});

test('a hundred connections read a bounded part of the store', async () => {
  const { accountId } = await testConsole.owner();
  const connections: number[] = [];
  for (let n = 0; n < 100; n++) connections.push(await measured(accountId, { '"near"': n + 1 }));
  await writeHistory(accountId, connections, 5);
  const root = await store.superuser('store');
  await root.query(
    'vacuum (analyze) measure_run, measure_hour, measure_day, measure_series, measure_latest, connection',
  );
  const buffers = (statement: string, values: unknown[]) =>
    buffersOf(store, accountId, statement, [accountId, ...values], 'console');
  const now = Math.floor(Date.now() / 1_000);
  const ones = connections.map(() => 1);
  expect(await buffers(selectFleetSeries, [connections, METRIC])).toBeLessThan(1_500);
  expect(await buffers(selectFleetHours, [connections, ones, now - 7 * 86_400])).toBeLessThan(1_500);
  expect(await buffers(selectFleetDays, [connections, ones, now - 396 * 86_400])).toBeLessThan(2_500);
  expect(await buffers(selectFleetTail, [connections, ones, now - 10_800, now, 1_200])).toBeLessThan(5_000);
  expect(await buffers(selectFleetTail, [connections, ones, now - 3_600, now, 120])).toBeLessThan(15_000);
});
