import { afterAll, beforeAll, expect, test } from 'vitest';
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

/** A run a minute after another one, as the login of the documentation. */
async function run(last: Last = { samples: [], state: null }) {
  const measured = await runOnce(target, {
    ...{ allowPrivateTargets: true, thresholds: {}, signal: new AbortController().signal },
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

test('with performance_schema off the share of slow statements is measured, and the check says so', async () => {
  await server.restart({ 'performance-schema': 'OFF' });
  const quiet = await run((await run()).last);
  expect(quiet.findings).toMatchObject([
    { status: 'ok', metric_line: expect.stringContaining('performance_schema off') },
  ]);
  expect(quiet.measures.map(({ metric }) => metric)).toEqual(['slow_queries_ratio']);
});
