import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measure } from '../../src/monitor/measure.ts';
import { pastedLogin, pastedSql, privilegesMissing, skippedWithout } from '../support/pasted-sql.ts';
import { PostgresServer } from './postgres-server.ts';

const DATABASES = ['postgres', 'shop'];

const [whole = [], each = [], rows = []] = pastedSql('PostgreSQL');

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.run('drop extension pg_stat_statements');
  await server.run('create extension pg_stat_statements');
  await server.run(
    'create table orders as select n as id, n || repeat($$x$$, 300) as text from generate_series(1, 60000) n',
  );
  await server.run('create index orders_text on orders (text)');
  for (const statement of whole) await server.run(statement);
  for (const database of DATABASES) for (const statement of each) await server.run(statement, database);
  // Created after the page's SQL, so only its default privileges cover this table.
  await server.run('create table later (id bigserial primary key)');
  await server.run('analyze');
});
afterAll(() => server?.stop());

/** A run as the login that the page creates. */
function run() {
  const { host, port } = server;
  const target = pastedLogin({ engine: 'postgres', host, port, database: 'shop' });
  const signal = new AbortController().signal;
  return measure(target, { allowPrivateTargets: true, thresholds: {}, expectedStandbys: 1, signal });
}

/** The missing privileges, by the finding about privileges. */
async function missing() {
  return privilegesMissing(await run());
}

/** The checks that need a GRANT. */
async function skippedForPrivilege() {
  const { outcomes } = await run();
  return outcomes
    .flatMap(({ findings }) => findings)
    .filter(({ missing_grant, metric_line }) => {
      expect(/ Run (GRANT .*)$/.exec(metric_line)?.[1]).toBe(missing_grant);
      return missing_grant !== undefined;
    })
    .map(({ check_id }) => check_id)
    .toSorted();
}

const READ_ROWS = "SELECT on tables, which these blocks don't grant";

/** Runs a statement as the login. */
async function asWatcher(sql: string): Promise<void> {
  const { host, port } = server;
  const client = new pg.Client({
    host,
    port,
    user: 'dbvitals_watcher',
    password: 'change-me',
    database: 'shop',
  });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

test('the first SQL of the page gives no access to rows and skips the checks that the page names', async () => {
  expect([...whole, ...each].join(';')).not.toMatch(/on (all )?tables/);
  await expect(asWatcher('select count(*) from orders')).rejects.toThrow(/permission denied/);
  expect(await skippedForPrivilege()).toEqual(skippedWithout('PostgreSQL').get(READ_ROWS)?.toSorted());
  // The finding does not ask for what the page advises against.
  expect(await missing()).toEqual({ status: 'ok', checks: [], grants: '' });
});

test('with the optional GRANTs of the page, no check lacks a privilege', async () => {
  for (const database of DATABASES) for (const statement of rows) await server.run(statement, database);
  expect(await skippedForPrivilege()).toEqual([]);
  expect(await missing()).toEqual({ status: 'ok', checks: [], grants: '' });
});

test.each([
  ['`pg_monitor`', 'pg_monitor', 'pg_monitor'],
  [
    'SELECT on sequences',
    'select on all sequences in schema public',
    'SELECT ON ALL SEQUENCES IN SCHEMA public',
  ],
])('without %s its checks are skipped, and the finding names that GRANT', async (named, revoked, granted) => {
  await server.run(`revoke ${revoked} from dbvitals_watcher`);
  const { status, checks, grants } = await missing();
  for (const grant of grants.split(/;\s*/)) if (grant !== '') await server.run(grant);
  expect([status, grants]).toEqual([
    'info',
    expect.stringContaining(`GRANT ${granted} TO dbvitals_watcher;`),
  ]);
  const listed = skippedWithout('PostgreSQL').get(named) ?? [];
  // No index is being built here.
  expect(checks.toSorted()).toEqual(listed.filter((id) => id !== 'PG_INVALID_INDEX').toSorted());
  expect(await missing()).toMatchObject({ status: 'ok' });
});

const queries = { state: null, usual: null, recent: null, texts: null };

test.each<[string, string[], string]>([
  [
    'a schema',
    ['create schema "Own stats"', 'alter extension pg_stat_statements set schema "Own stats"'],
    'GRANT USAGE ON SCHEMA "Own stats" TO dbvitals_watcher;',
  ],
  [
    'a function of an extension',
    ['revoke execute on function "Own stats".pg_stat_statements from public'],
    'GRANT EXECUTE ON FUNCTION "Own stats"."pg_stat_statements"("pg_catalog"."bool") TO dbvitals_watcher;',
  ],
  [
    'a function of the server that has several forms',
    ['revoke execute on function pg_relation_size(regclass, text), pg_relation_size(regclass) from public'],
    '',
  ],
  [
    'a function that pg_monitor may call, for a member of it',
    ['revoke execute on function pg_ls_waldir from pg_monitor'],
    'GRANT EXECUTE ON FUNCTION "pg_catalog"."pg_ls_waldir"() TO dbvitals_watcher;',
  ],
  [
    'a view',
    ['revoke select on pg_stat_archiver, pg_locks from public'],
    'GRANT SELECT ON TABLE "pg_catalog"."pg_stat_archiver" TO dbvitals_watcher;',
  ],
  [
    'a catalog',
    ['revoke select on pg_constraint from public'],
    'GRANT SELECT ON TABLE "pg_catalog"."pg_constraint" TO dbvitals_watcher;',
  ],
])(
  'without %s no check fails or is silent, and what the finding says mends it',
  async (_, revoked, expected) => {
    for (const statement of revoked) await server.run(statement);
    const seen: string[] = [];
    for (let round = 0; round < 3; round++) {
      const { host, port } = server;
      const target = pastedLogin({ engine: 'postgres', host, port, database: 'shop' });
      const signal = new AbortController().signal;
      const measured = await measure(target, { allowPrivateTargets: true, thresholds: {}, signal, queries });
      const findings = measured.outcomes.flatMap((outcome) => outcome.findings);
      expect(findings.filter(({ status }) => status === 'error')).toEqual([]);
      const { status, grants } = privilegesMissing(measured);
      if (status === 'ok') break;
      seen.push(grants);
      for (const grant of grants.split(/;\s*/)) if (grant !== '') await server.run(grant);
    }
    expect(await missing()).toMatchObject({ status: 'ok' });
    expect(seen.join(' ')).toContain(expected);
  },
);

test.each([
  ['select on pg_database', 'GRANT SELECT ON TABLE "pg_catalog"."pg_database"'],
  ['select on pg_roles', 'GRANT SELECT ON TABLE "pg_catalog"."pg_roles"'],
  ['select on pg_settings', 'GRANT SELECT ON TABLE "pg_catalog"."pg_settings"'],
  ['execute on function pg_is_in_recovery()', 'GRANT EXECUTE ON FUNCTION "pg_catalog"."pg_is_in_recovery"()'],
])('a server that takes %s from everybody is reachable, and the GRANT is named', async (what, grant) => {
  await server.run(`revoke ${what} from public`);
  const { outcomes } = await run();
  const [finding, ...others] = outcomes.flatMap(({ findings }) => findings);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    check_id: 'CONN_AUTH_FAILED',
    metric_line: expect.stringContaining('the role may not read what every check needs (SQLSTATE 42501)'),
    remediation: `Grant the role what the server denies: ${grant} TO "dbvitals_watcher";`,
  });
  await server.run(`${grant} TO dbvitals_watcher`);
  const again = (await run()).outcomes.flatMap(({ findings }) => findings);
  expect(again.filter(({ status }) => status === 'error')).toEqual([]);
  expect(again.length).toBeGreaterThan(50);
  await server.run(`grant ${what} to public`);
});
