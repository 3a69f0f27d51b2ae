import { afterAll, beforeAll, expect, test } from 'vitest';
import { measure } from '../../src/monitor/measure.ts';
import { pastedLogin, pastedSql, privilegesMissing, skippedWithout } from '../pasted-sql.ts';
import { PostgresServer } from './postgres-server.ts';

const DATABASES = ['postgres', 'shop'];

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  const [whole = [], each = []] = pastedSql('PostgreSQL');
  await server.run('drop extension pg_stat_statements');
  await server.run('create extension pg_stat_statements');
  await server.run(
    'create table orders as select n as id, n || repeat($$x$$, 300) as text from generate_series(1, 60000) n',
  );
  await server.run('create index orders_text on orders (text)');
  for (const statement of whole) await server.run(statement);
  for (const database of DATABASES) for (const statement of each) await server.run(statement, database);
  // What the default privileges are for.
  await server.run('create table later (id bigserial primary key)');
  await server.run('analyze');
});
afterAll(() => server?.stop());

/** What is missing in a run as the login that the page makes. */
async function missing() {
  const { host, port } = server;
  const target = pastedLogin({ engine: 'postgres', host, port, database: 'shop' });
  const signal = new AbortController().signal;
  return privilegesMissing(
    await measure(target, { allowPrivateTargets: true, thresholds: {}, expectedStandbys: 1, signal }),
  );
}

test('with what the page gives, no check lacks a privilege', async () => {
  expect(await missing()).toEqual({ status: 'ok', checks: [], grants: '' });
});

test.each([
  ['`pg_monitor`', 'pg_monitor', 'pg_monitor'],
  [
    'SELECT on sequences',
    'select on all sequences in schema public',
    'SELECT ON ALL SEQUENCES IN SCHEMA public',
  ],
  ['SELECT on tables', 'select on all tables in schema public', 'SELECT ON ALL TABLES IN SCHEMA public'],
])('without %s its checks are skipped, and the finding names that GRANT', async (named, revoked, granted) => {
  await server.run(`revoke ${revoked} from dbvitals_watcher`);
  const { status, checks, grants } = await missing();
  for (const grant of grants.split(/;\s*/)) if (grant !== '') await server.run(grant);
  expect([status, grants]).toEqual([
    'info',
    expect.stringContaining(`GRANT ${granted} TO dbvitals_watcher;`),
  ]);
  const listed = skippedWithout('PostgreSQL').get(named) ?? [];
  // No index is in the making here.
  expect(checks.toSorted()).toEqual(listed.filter((id) => id !== 'PG_INVALID_INDEX').toSorted());
  expect(await missing()).toMatchObject({ status: 'ok' });
});
