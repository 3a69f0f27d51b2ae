import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysqlSetAside } from '../../src/checks/queries/statistics-sql.ts';
import type { CounterSample } from '../../src/monitor/counters.ts';
import { measure as runOnce } from '../../src/monitor/measure.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { startWithDocumentedLogin } from './documented-login.ts';
import type { MysqlServer } from './mysql-server.ts';
import { dialect, numbers } from './tested-server.ts';

let server: MysqlServer;
let target: Target;
beforeAll(async () => {
  ({ server, target } = await startWithDocumentedLogin());
  await server.run([
    'create table orders (id int primary key, customer int, note varchar(2000)) engine=innodb charset=utf8mb4',
    `insert into orders select seq, seq % 5000, repeat('n', 50) from ${numbers(1, 60_000)}`,
    'create table customers (id int primary key) engine=innodb',
    `insert into customers select seq from ${numbers(1, 30)}`,
  ]);
});
afterAll(() => server?.stop());

/** A join that looks at every order for each customer, as long as orders have no index. */
const slow = 'select count(*) from customers c straight_join orders o on o.customer = c.id';
/** Four of them in a session that does not read the orders once and keep them. */
const often = [
  dialect({ mysql: `set optimizer_switch = 'block_nested_loop=off'`, mariadb: 'set join_cache_level = 0' }),
  ...Array.from({ length: 4 }, () => slow),
];

/** MariaDB writes in whole seconds when it first saw a query. */
const aSecond = () => server.until('select sleep(1.1) = 0');

interface Last {
  samples: CounterSample[];
  state: string | null;
}

/** A run a minute after another one, as the login of the documentation. `warning` is the share of statements that were slow. */
async function run(last: Last = { samples: [], state: null }, warning = 0.05) {
  const measured = await runOnce(target, {
    allowPrivateTargets: true,
    thresholds: { MY_SLOW_QUERIES: { warning } },
    signal: new AbortController().signal,
    before: last.samples.map(({ after: _, ...sample }) => ({ ...sample, seconds: 60 })),
    queries: { state: last.state, usual: null, recent: null, texts: null },
  });
  const { findings = [] } = measured.outcomes.find(({ check }) => check.id === 'MY_SLOW_QUERIES') ?? {};
  const { samples, queries } = JSON.parse(JSON.stringify(measured)) as typeof measured;
  const measures = measured.measures.filter(({ checkId }) => checkId === 'MY_SLOW_QUERIES');
  return { findings, measures, last: { samples, state: queries?.state ?? null }, queries };
}

test('a slow query is found, and leaves the list in the run after it was mended', async () => {
  const first = await run();
  expect(first.findings).toMatchObject([{ status: 'skipped' }]);
  await server.run([...often]);
  const second = await run(first.last);
  const [finding] = second.findings;
  expect(second.findings).toMatchObject([
    { status: 'info', object: expect.stringMatching(/^(?:[0-9a-f]{32}){1,2}$/) },
  ]);
  expect(finding?.metric_line).toMatch(
    /^Query [0-9a-f]+ took [\d,]+ ms on average, 4 times since the last run /,
  );
  expect(second.measures).toContainEqual(
    expect.objectContaining({ metric: 'query_mean_seconds', object: finding?.object, warning: 0.05 }),
  );
  expect(second.measures).toContainEqual(expect.objectContaining({ metric: 'slow_queries_count', value: 1 }));
  expect(second.queries?.grown[0]).toMatchObject({ query: finding?.object, database: 'shop', calls: 4 });
  expect(second.queries?.grown[0]?.read).toBeGreaterThan(4 * 60_000);
  const [shown] = await server.run(finding?.remediation ?? '');
  expect(shown?.['digest_text']).toContain('`customers`');

  expect(JSON.stringify(second)).not.toMatch(/customers|straight_join/i);
  await server.run(['create index customer on orders (customer)', ...often]);
  const mended = await run(second.last);
  expect(mended.findings).toMatchObject([{ status: 'ok' }]);
  expect(mended.measures).toContainEqual(expect.objectContaining({ metric: 'slow_queries_count', value: 0 }));
});

test('statistics that were reset, or lost in a restart, give no wrong value', async () => {
  await server.run(['drop index customer on orders', ...often, ...often]);
  const { last } = await run();
  await aSecond();
  await server.run('truncate performance_schema.events_statements_summary_by_digest');
  expect((await run(last)).findings).toMatchObject([{ status: 'ok' }]);
  await aSecond();
  await server.run([...often]);
  expect((await run(last)).findings.map(({ metric_line }) => metric_line)).toEqual([
    expect.stringContaining(', 4 times since the last run '),
  ]);
  await server.restart();
  const [restarted] = (await run(last)).findings;
  expect(restarted?.metric_line).toContain('the server was restarted');
});

test('statements that waited for row locks are said to have waited', async () => {
  await server.run(['create table stock (id int primary key, v int)', 'insert into stock values (1, 0)']);
  await server.run('set global long_query_time = 0.5');
  const { last } = await run();
  const holder = await server.open('app');
  await holder.query('begin');
  await holder.query('update stock set v = 1 where id = 1');
  const victims = await Promise.all(Array.from({ length: 10 }, () => server.open('app')));
  const updates = victims.map((session) => session.query('update stock set v = 2 where id = 1'));
  // Whole seconds: 1 may be a moment.
  await server.until(
    `select count(*) = 10 from information_schema.processlist where info like 'update stock%' and time >= 2`,
  );
  await holder.commit();
  await Promise.all(updates);
  const { findings } = await run(last, 0.001); // however often the test had to ask whether all wait
  await Promise.all([holder, ...victims].map((session) => session.end()));
  await server.run('set global long_query_time = 10');
  expect(findings.find(({ object }) => object === null)?.metric_line).toMatch(
    /for row locks, which may be why all of them were slow: MY_LOCK_WAITS names who holds them\.$/,
  );
  const [query] = findings.filter(({ object }) => object !== null);
  expect(query?.metric_line).toMatch(/it examined too few rows to work so long: find out what it waits for/);
  expect(await server.run(query?.remediation ?? '')).toMatchObject([
    { digest_text: expect.stringContaining('`stock`') },
  ]);
});

test('what a backup reads is not a slow query', async () => {
  const dump = server.dump('orders');
  dump.stdout.resume();
  expect(await once(dump, 'exit')).toEqual([0, null]);
  const setAside = (await server.run(mysqlSetAside)).filter((row) => Number(row['is_set_aside']) === 1);
  const digests = setAside.map(({ query }) => `'${query}'`);
  const texts = await server.run(
    `select digest_text from performance_schema.events_statements_summary_by_digest where digest in (${digests})`,
  );
  expect(texts.filter((row) => /^SELECT /.test(String(row['digest_text'])))).toHaveLength(1);
  const { last } = await run();
  await server.run(
    Array.from({ length: 4 }, () => 'SELECT /*!40001 SQL_NO_CACHE */ sleep(0.1) FROM customers LIMIT 1'),
  );
  expect((await run(last)).findings).toMatchObject([{ status: 'ok' }]);
});

test('what reads only the catalogue, as dumps and monitoring tools do, is not a slow query', async () => {
  const { last } = await run();
  await server.run('set global long_query_time = 0.002');
  const four = (statement: string) => server.run(Array.from({ length: 4 }, () => statement));
  // Far over the 50 ms a run lists a query from, on a fast machine too: MariaDB does 30 million rows a second.
  const engines = 'information_schema.engines e, information_schema.engines f';
  const slow = `select count(*), ifnull(max(a.id), 0) from information_schema.collations a
    join information_schema.collations b on a.id > b.id, ${engines}`;
  await four(slow);
  await server.run('create table tools (id int)');
  const { findings, last: then } = await run(last);
  expect(findings.filter(({ object }) => object !== null)).toEqual([]);
  await server.run('insert into tools values (1)');
  await four(`${slow}, tools`);
  const again = await run(then);
  await server.run('set global long_query_time = 10');
  expect(again.findings.filter(({ object }) => object !== null)).toHaveLength(1);
});

test('a wait for a lock of users, or for tables, is not the time of a query', async () => {
  const { last } = await run();
  const holder = await server.open('app');
  await holder.query("select get_lock('nightly job', 0)");
  await holder.query('lock tables customers write');
  const waiter = await server.open('app');
  for (const number of [1, 2, 3])
    await waiter.query(`select coalesce(get_lock('nightly job', 0.2), ${number}) as is_ours`);
  for (let number = 0; number < 3; number++)
    await waiter.query(`select get_lock('nightly job', 0.2) as is_ours from dual`);
  const locked = waiter.query('lock tables customers read');
  await server.until(
    `select count(*) = 1 from information_schema.processlist where info like 'lock tables%' and time >= 1`,
  );
  await holder.query('unlock tables');
  await locked;
  await Promise.all([holder.end(), waiter.end()]);
  expect((await run(last)).findings).toMatchObject([{ status: 'ok' }]);
});

test('a full table of digests is said, and what it left out is not called fine', async () => {
  await server.restart({ 'performance-schema-digests-size': '20' });
  const columns = (n: number) => Array.from({ length: n }, () => 'id').join(', ');
  const differ = () =>
    server.run(Array.from({ length: 40 }, (_, n) => `select ${columns(n + 1)} from customers`));
  await differ();
  const { last } = await run();
  await differ();
  expect((await run(last)).findings).toMatchObject([
    {
      status: 'skipped',
      metric_line: expect.stringMatching(
        /^Not measured: the table of digests is full and left out \d+ statements since the last run; raise performance_schema_digests_size\.$/,
      ),
    },
  ]);
});

test('with performance_schema off the share of slow statements is measured, and the check says so', async () => {
  await server.restart({ 'performance-schema': 'OFF' });
  const quiet = await run((await run()).last);
  expect(quiet.findings).toMatchObject([
    { status: 'ok', metric_line: expect.stringContaining('performance_schema off') },
  ]);
  expect(quiet.measures.map(({ metric }) => metric)).toEqual(['slow_queries_ratio']);
});
