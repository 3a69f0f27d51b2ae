import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOGIN_GRANTS } from '../../src/connections/monitoring-login/login-grants.ts';
import { loginSql } from '../../src/connections/monitoring-login/login-sql.ts';
import { measure } from '../../src/monitor/measure.ts';
import { PROVIDERS } from '../../src/vocabulary/hosted/providers.ts';
import { grantChoices, LOGIN_PASSWORD, skippedBy, withoutPrivilege } from '../support/login-cases.ts';
import { pastedLogin, pastedSql, skippedWithout } from '../support/pasted-sql.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';

// The SQL is pasted into psql as it is printed. A provider's administrator is a role with what the provider documents: CREATEROLE,
// and pg_monitor with its ADMIN OPTION.

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.run('drop extension pg_stat_statements');
  await server.run('create extension pg_stat_statements');
  await server.run(`create role administrator login createrole createdb password '${PASSWORD}'`);
  await server.run('grant pg_monitor to administrator with admin option');
  for (const name of ['postgres', 'shop'])
    await server.run(`alter database ${name} owner to administrator`, 'postgres');
  await server.run('grant create on schema public to administrator');
  await server.run(`set role administrator; CREATE TABLE orders (id bigserial primary key, text text)`);
  await server.run(`insert into orders (text) select n || repeat('x', 300) from generate_series(1, 60000) n`);
  await server.run('create index orders_text on orders (text); ANALYZE');
});
afterAll(() => server?.stop());

/** Pastes into psql; rejects if a statement fails. */
async function paste(sql: string, user: string, database: string): Promise<void> {
  const { host, port } = server;
  const pasted = promisify(execFile)(
    'psql',
    [
      '--no-psqlrc',
      '--quiet',
      '--set=ON_ERROR_STOP=1',
      `--host=${host}`,
      `--port=${port}`,
      `--username=${user}`,
      database,
    ],
    { env: { ...process.env, PGPASSWORD: PASSWORD } },
  );
  pasted.child.stdin?.end(sql);
  await pasted;
}

/** What the login can't measure for lack of a privilege. */
async function lackingOf(username: string): Promise<string[]> {
  const { host, port } = server;
  const login = pastedLogin({ engine: 'postgres', host, port, database: 'shop' });
  const signal = new AbortController().signal;
  const { failure, outcomes } = await measure(
    { ...login, username, password: LOGIN_PASSWORD },
    { allowPrivateTargets: true, thresholds: {}, expectedStandbys: 1, signal },
  );
  expect(failure).toBeNull();
  return withoutPrivilege(outcomes);
}

/** Creates the login, and lets each other database have its part, as the comment in the SQL says. */
async function create(sql: string, administrator: string): Promise<void> {
  await paste(sql.replaceAll('change-me', LOGIN_PASSWORD), administrator, 'shop');
  const [, ofDatabase] = sql.split(/^-- In each database.*$/m);
  if (ofDatabase) await paste(ofDatabase, administrator, 'postgres');
}

test.each(grantChoices('postgres').map((grants) => ({ grants })))(
  'with the grants $grants, the checks are skipped that the list names',
  async ({ grants }) => {
    const username = `login "${grants?.join()}"`;
    const { sql } = loginSql({ engine: 'postgres', provider: null, username, grants });
    await create(sql, 'postgres');
    // No index is being built here.
    const listed = skippedBy('postgres', grants).filter((id) => id !== 'PG_INVALID_INDEX');
    expect(await lackingOf(username)).toEqual(listed);
  },
);

test.each(PROVIDERS)('the administrator of %s, who is no superuser, creates the login', async (provider) => {
  const username = `of "${provider}"; drop role postgres; --`;
  const { sql, notes } = loginSql({ engine: 'postgres', provider, username });
  expect([sql, notes]).toEqual([
    expect.stringMatching(/^-- As /),
    expect.arrayContaining([expect.stringMatching(/no superuser/)]),
  ]);
  await create(sql, 'administrator');
  expect(await lackingOf(username)).toEqual(skippedBy('postgres', undefined));
});

test('docs/least-privilege.md shows the same statements, and the same checks without each', () => {
  const sql = (grants?: string[]) => loginSql({ engine: 'postgres', provider: null, grants }).sql;
  const statements = (text: string) => text.split('\n').filter((line) => !line.startsWith('--'));
  const shown = pastedSql('PostgreSQL')
    .flat()
    .map((statement) => `${statement};`);
  expect(new Set(shown)).toEqual(new Set([...statements(sql()), ...statements(sql(['tables']))]));
  const rows = [...skippedWithout('PostgreSQL')].map(([privilege, checks]) => [
    privilege.replaceAll('`', '').replace(/,.*/, ''),
    checks.toSorted(),
  ]);
  expect(rows).toEqual(LOGIN_GRANTS.postgres.map(({ privilege, checks }) => [privilege, checks.toSorted()]));
});
