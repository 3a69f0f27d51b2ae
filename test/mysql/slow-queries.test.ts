import { afterAll, beforeAll, expect, test } from 'vitest';
import { slowQueries } from '../../src/checks/mysql/slow-queries.ts';
import type { CounterSample } from '../../src/monitor/counters.ts';
import { measure as runOnce } from '../../src/monitor/measure.ts';
import { pastedLogin, pastedSql } from '../pasted-sql.ts';
import { MariadbServer } from './mariadb-server.ts';
import { measure, sample } from './measure.ts';

let server: MariadbServer;
beforeAll(async () => {
  server = await MariadbServer.start();
  await server.run([
    'create table orders (id int primary key, customer int, note varchar(2000)) engine=innodb charset=utf8mb4',
    `insert into orders select seq, seq % 5000, repeat('n', 50) from seq_1_to_60000`,
    'create table customers (id int primary key) engine=innodb',
    'insert into customers select seq from seq_1_to_30',
  ]);
});
afterAll(() => server?.stop());

/** A join that looks at every order for each customer, as long as orders have no index. */
const slow = 'select count(*) from customers c straight_join orders o on o.customer = c.id';
const often = Array.from({ length: 4 }, () => slow);

/** This moment, as the next run will see it: the run before, a minute ago. */
const runNow = async () => ({ before: { rows: await sample(server, slowQueries), seconds: 60 } });

/** MariaDB writes in whole seconds when it first saw a query. */
const aSecond = () => server.until('select sleep(1.1) = 0');

test('a slow query is found, and leaves the list in the run after it was mended', async () => {
  expect((await measure(server, slowQueries)).skipped).toContain('it takes two runs, and this is the first');
  const first = await runNow();
  await aSecond();
  await server.run(['set join_cache_level = 0', ...often]);
  const { faults, measures } = await measure(server, slowQueries, first);
  const [fault] = faults;
  expect(faults).toMatchObject([{ severity: 'info', object: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
  expect(fault?.metricLine).toMatch(
    /^Query [0-9a-f]{32} took [\d,]+ ms on average, 4 times since the last run /,
  );
  expect(measures).toContainEqual(
    expect.objectContaining({ metric: 'query_mean_seconds', object: fault?.object, warning: 0.05 }),
  );
  expect(measures).toContainEqual(expect.objectContaining({ metric: 'slow_queries_count', value: 1 }));
  const [shown] = await server.run(fault?.remediation ?? '');
  expect(shown?.['digest_text']).toContain('`customers`');

  const second = await runNow();
  expect(JSON.stringify(second)).not.toContain('customers');
  await server.run(['create index customer on orders (customer)', 'set join_cache_level = 0', ...often]);
  const mended = await measure(server, slowQueries, second);
  expect(mended.faults).toEqual([]);
  expect(mended.measures).toContainEqual(expect.objectContaining({ metric: 'slow_queries_count', value: 0 }));
  // Since the server started it is slow on average: what a check of the counters themselves would still report.
  const [since] = await server.run(
    `select sum(sum_timer_wait) / sum(count_star) / 1e12 as mean
       from performance_schema.events_statements_summary_by_digest where digest = '${fault?.object}'`,
  );
  expect(Number(since?.['mean'])).toBeGreaterThan(0.05);
});

test('the monitor stores figures of queries between two runs, and no text', async () => {
  await server.run(pastedSql('MariaDB').flat());
  const target = pastedLogin({ engine: 'mariadb', host: server.socket, port: 3306, database: '' });
  const runAfter = (samples: CounterSample[]) =>
    runOnce(target, {
      ...{ allowPrivateTargets: true, thresholds: {}, signal: new AbortController().signal },
      before: samples.map(({ after: _, ...sample }) => ({ ...sample, seconds: 60 })),
    });
  const { samples } = await runAfter([]);
  const stored = JSON.parse(JSON.stringify(samples)) as CounterSample[];
  const own = stored.find(({ checkId }) => checkId === 'MY_SLOW_QUERIES')?.rows ?? [];
  const queries = own.filter((row) => 'digest' in row);
  expect(queries.length).toBeGreaterThan(0);
  expect(queries.length).toBeLessThanOrEqual(200);
  expect(new Set(queries.flatMap(Object.keys))).toEqual(new Set(['digest', 'calls', 'seconds', 'since']));
  for (const { digest } of queries) expect(digest).toMatch(/^[0-9a-f]{32}$/);

  await server.run(['drop index customer on orders', 'set join_cache_level = 0', ...often]);
  const { outcomes, measures } = await runAfter(stored);
  const { findings = [] } = outcomes.find(({ check }) => check.id === 'MY_SLOW_QUERIES') ?? {};
  expect(findings).toMatchObject([{ status: 'info', measured: { metric: 'query_mean_seconds' } }]);
  const series = measures.filter(({ checkId }) => checkId === 'MY_SLOW_QUERIES');
  expect(series.map(({ object }) => object)).toContain(findings[0]?.object);
  expect(JSON.stringify([series, own])).not.toMatch(/customers|straight_join/i);
  await server.run('create index customer on orders (customer)');
});

test('statistics that were reset, or lost in a restart, give no wrong value', async () => {
  await server.run(['drop index customer on orders', 'set join_cache_level = 0', ...often, ...often]);
  const listed = await runNow();
  await server.run('truncate performance_schema.events_statements_summary_by_digest');
  expect((await measure(server, slowQueries, listed)).faults).toEqual([]);
  await aSecond();
  await server.run(['set join_cache_level = 0', ...often]);
  const afresh = await measure(server, slowQueries, listed);
  expect(afresh.faults.map(({ metricLine }) => metricLine)).toEqual([
    expect.stringContaining(', 4 times since the last run '),
  ]);
  await server.restart();
  expect((await measure(server, slowQueries, listed)).skipped).toContain('the server was restarted');
});

test('with performance_schema off the share of slow statements is measured, and the check says so', async () => {
  await server.restart({ 'performance-schema': 'OFF' });
  const quiet = await measure(server, slowQueries, await runNow());
  expect(quiet).toMatchObject({ faults: [], passMessage: expect.stringContaining('performance_schema off') });
  expect(quiet.measures?.map(({ metric }) => metric)).toEqual(['slow_queries_ratio']);
});
