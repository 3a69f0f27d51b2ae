import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOGIN_GRANTS } from '../../src/connections/monitoring-login/login-grants.ts';
import { loginSql } from '../../src/connections/monitoring-login/login-sql.ts';
import { measure } from '../../src/monitor/measure.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { grantChoices, LOGIN_PASSWORD, skippedBy, withoutPrivilege } from '../support/login-cases.ts';
import { pastedSql, skippedWithout } from '../support/pasted-sql.ts';
import { startWithDocumentedLogin } from './documented-login.ts';
import type { MysqlServer } from './mysql-server.ts';
import { paste } from './paste.ts';
import { dialect, ENGINE } from './tested-server.ts';

// The SQL is pasted into the server's own client as it is printed.

// Otherwise it is skipped for the server's short uptime, before it checks its privilege.
const AT_ONCE = { MY_UNUSED_INDEX: { statistics_days: 0 } };
const SECTION = dialect({ mysql: 'MySQL', mariadb: 'MariaDB' });

let server: MysqlServer;
let target: Target;
beforeAll(async () => {
  ({ server, target } = await startWithDocumentedLogin());
  await server.run('create table orders (id int primary key)');
});
afterAll(() => server?.stop());

async function lackingOf(username: string): Promise<string[]> {
  const signal = new AbortController().signal;
  const { failure, outcomes } = await measure(
    { ...target, username, password: LOGIN_PASSWORD },
    { allowPrivateTargets: true, thresholds: AT_ONCE, signal },
  );
  expect(failure).toBeNull();
  return withoutPrivilege(outcomes);
}

// Without this privilege no check is skipped for a missing one: it sees fewer tables. test/mysql/least-privilege.test.ts looks at that.
const UNSEEN = 'references';

test.each(grantChoices(ENGINE).map((grants, n) => ({ grants, n })))(
  'with the grants $grants, the checks are skipped that the list names',
  async ({ grants, n }) => {
    const username = `a"'\`; -- ${n}`;
    const { sql } = loginSql({ engine: ENGINE, provider: null, username, grants });
    paste(server, sql.replaceAll('change-me', LOGIN_PASSWORD));
    const lacking = await lackingOf(username);
    if (grants && !grants.includes(UNSEEN)) {
      expect(skippedBy(ENGINE, grants)).toEqual(expect.arrayContaining(lacking));
      return;
    }
    const listed = skippedBy(ENGINE, grants);
    expect(lacking).toEqual(listed.filter((id) => id !== 'MY_INDEX_GT_DATA'));
  },
);

test('a login from one host is for that host', () => {
  const { sql } = loginSql({ engine: ENGINE, provider: 'rds', username: 'elsewhere', host: '10.9.8.7' });
  paste(server, sql);
  expect(() => paste(server, "show grants for elsewhere@'%'")).toThrow();
  expect(paste(server, "show grants for elsewhere@'10.9.8.7'")).toMatch(/performance_schema/);
});

test('docs/least-privilege.md shows the same statements, and the same checks without each', () => {
  const { sql } = loginSql({ engine: ENGINE, provider: null });
  const statements = sql.split('\n').filter((line) => !line.startsWith('--'));
  expect(
    pastedSql(SECTION)
      .flat()
      .map((statement) => `${statement};`),
  ).toEqual(statements);
  const rows = [...skippedWithout(SECTION)].map(([privilege, checks]) => [
    privilege.replaceAll('`', ''),
    checks.toSorted(),
  ]);
  expect(rows).toEqual(LOGIN_GRANTS[ENGINE].map(({ privilege, checks }) => [privilege, checks.toSorted()]));
});
