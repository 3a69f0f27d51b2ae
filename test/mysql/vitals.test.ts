import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysqlVitals } from '../../src/checks/vitals/mysql-vitals.ts';
import type { CounterBefore, CounterSample } from '../../src/monitor/counters.ts';
import { measure } from '../../src/monitor/measure.ts';
import type { Measured } from '../../src/monitor/nothing-measured.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { ENGINE, FLUSH_STATUS, numbers, ON_MYSQL } from './tested-server.ts';

let server: MysqlServer;
beforeAll(async () => {
  server = await MysqlServer.start();
});
afterAll(() => server.stop());

const RATES = mysqlVitals
  .map(({ metric }) => metric)
  .filter((metric) => metric.endsWith('_per_second') || metric === 'cache_hit_ratio');

/** Runs all checks and reads all vitals. `before` are the samples of a run that was so many seconds ago. */
async function run(
  before: readonly CounterSample[] = [],
  seconds = 60,
  username = 'watcher',
): Promise<Measured> {
  const target: Target = {
    engine: ENGINE,
    connectionType: 'unix_socket',
    host: server.socket,
    port: 0,
    database: '',
    username,
    password: PASSWORD,
    tls: 'disable',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
  };
  const last: CounterBefore[] = JSON.parse(JSON.stringify(before.map((sample) => ({ ...sample, seconds }))));
  const signal = AbortSignal.timeout(50_000);
  return measure(target, { allowPrivateTargets: true, thresholds: {}, before: last, signal });
}

const vitals = ({ measures }: Measured) => measures.filter(({ checkId }) => checkId === '');
const names = (measured: Measured) => [...new Set(vitals(measured).map(({ metric }) => metric))];
/** What a login sees without a replica; MySQL has no counter of deadlocks. */
const ALL = mysqlVitals
  .map(({ metric }) => metric)
  .filter((metric) => metric !== 'replication_lag_seconds' && !(ON_MYSQL && metric.startsWith('deadlocks')));
const rates = (measured: Measured) => names(measured).filter((metric) => RATES.includes(metric));
const vitalOf = (measured: Measured, metric: string, object: string | null = null) =>
  vitals(measured).find((vital) => vital.metric === metric && vital.object === object)?.value ?? Number.NaN;

/** The server's uptime, which the seconds since the last run must agree with. */
async function uptime(): Promise<number> {
  const [row] = await server.run(`show global status like 'Uptime'`);
  return Number(row?.['Value']);
}

/** A second run after 6 s by the server's own clock, with what was done between them. */
async function twoRuns(between: () => Promise<unknown>): Promise<[Measured, Measured]> {
  const first = await run();
  const began = await uptime();
  await between();
  await server.until(
    `select variable_value >= ${began + 6} from performance_schema.global_status where variable_name = 'Uptime'`,
  );
  return [first, await run(first.samples, (await uptime()) - began)];
}

test('two runs: rates of what happened between them, and the state of now', async () => {
  await server.run('create table parcels (id int primary key, note text, key (note(20)))');
  const [first, second] = await twoRuns(() =>
    server.run([
      `insert into parcels select seq, repeat('x', 100) from ${numbers(1, 6_000)}`,
      'create temporary table t1 as select sleep(0)',
      'analyze table parcels',
    ]),
  );
  expect(rates(first)).toEqual([]);
  expect(names(second)).toEqual(ALL);
  expect(vitalOf(second, 'rows_written_per_second')).toBeGreaterThan(400);
  expect(vitalOf(second, 'rows_written_per_second')).toBeLessThan(2_000);
  expect(vitalOf(second, 'queries_per_second')).toBeGreaterThan(1);
  expect(vitalOf(second, 'redo_bytes_per_second')).toBeGreaterThan(50_000);
  expect(vitalOf(second, 'cache_hit_ratio')).toBeGreaterThan(0.5);
  expect(vitalOf(second, 'connections_count')).toBeGreaterThanOrEqual(1);

  // Sizes are repeated for an hour.
  expect(second.samples.filter(({ checkId }) => checkId === 'VITALS_DATABASES')).toEqual([]);
  expect(vitalOf(second, 'table_bytes', '`shop`.`parcels`')).toBe(16_384);
  const third = await run(first.samples, 3_600);
  expect(vitalOf(third, 'table_bytes', '`shop`.`parcels`')).toBeGreaterThan(500_000);
  expect(vitalOf(third, 'index_bytes', '`shop`.`parcels`')).toBeGreaterThan(100_000);
  expect(vitals(third).filter(({ metric }) => metric === 'database_bytes')).toMatchObject([
    { database: 'shop', object: null, grows: true },
  ]);
});

test('sizes take four statements once an hour', async () => {
  const first = await run();
  const second = await run(first.samples);
  expect(first.cost.statements - second.cost.statements).toBe(4);
});

test('FLUSH STATUS or a restart since the last run gives a gap', async () => {
  const [, flushed] = await twoRuns(() => server.run(FLUSH_STATUS));
  expect(rates(flushed)).toEqual([]);
  await server.restart();
  const restarted = await run(flushed.samples, 6);
  expect(rates(restarted)).toEqual([]);
  expect(names(restarted)).toContain('connections_count');
});

test('a login without privileges has what every login sees, and no sums of the tables that it sees', async () => {
  const measured = await run([], 60, 'stranger');
  expect(names(measured)).toEqual([
    'connections_count',
    'active_connections_count',
    'lock_waiters_count',
    ...(ON_MYSQL ? [] : ['history_list_count']), // MySQL shows it to PROCESS only
  ]);
});
