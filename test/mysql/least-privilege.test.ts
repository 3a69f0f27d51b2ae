import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { measure } from '../../src/monitor/measure.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { pastedSql, privilegesMissing, skippedWithout } from '../support/pasted-sql.ts';
import { startWithDocumentedLogin } from './documented-login.ts';
import type { MysqlServer } from './mysql-server.ts';
import { dialect } from './tested-server.ts';

// Otherwise it is skipped for the server's short uptime, before it checks its privilege.
const AT_ONCE = { MY_UNUSED_INDEX: { statistics_days: 0 } };

const LOGIN = "'dbvitals_watcher'@'%'";

let server: MysqlServer;
let target: Target;
beforeAll(async () => {
  ({ server, target } = await startWithDocumentedLogin());
  await server.run('create table orders (id int primary key)');
});
afterAll(() => server?.stop());

/** The privileges missing in a run as the login that the page creates. */
async function missing() {
  const signal = new AbortController().signal;
  return privilegesMissing(await measure(target, { allowPrivateTargets: true, thresholds: AT_ONCE, signal }));
}

test('with the GRANTs of the page, no check lacks a privilege', async () => {
  expect(await missing()).toEqual({ status: 'ok', checks: [], grants: '' });
});

/** The privileges as the page's tables write them, and in SQL. */
const onMariaDb: [string, string][] = [
  ['PROCESS', 'PROCESS ON *.*'],
  ['SLAVE MONITOR', 'SLAVE MONITOR ON *.*'],
  ['SELECT on `performance_schema`', 'SELECT ON performance_schema.*'],
  ['SELECT on `mysql.global_priv`', 'SELECT ON mysql.global_priv'],
];
const onMySql: [string, string][] = [
  ['PROCESS', 'PROCESS ON *.*'],
  ['REPLICATION CLIENT', 'REPLICATION CLIENT ON *.*'],
  ['SELECT on `performance_schema`', 'SELECT ON performance_schema.*'],
  [
    'SELECT on columns of `mysql.user`',
    'SELECT (user, host, plugin, authentication_string, account_locked) ON mysql.user',
  ],
  [
    'SELECT on the privileges in `mysql.user`',
    'SELECT (super_priv, create_user_priv, grant_priv) ON mysql.user',
  ],
];

/** No check asks for it: without it tables are hidden. */
const references: [string, string] = ['REFERENCES', 'REFERENCES ON *.*'];

test.each([...dialect({ mysql: onMySql, mariadb: onMariaDb }), references])(
  'without %s its checks are skipped, and the finding names that GRANT',
  async (named, privilege) => {
    await server.run(`revoke ${privilege} from ${LOGIN}`);
    const { status, checks, grants } = await missing();
    await server.run(grants.split(/;\s*/).filter((grant) => grant !== ''));
    expect([status, grants.split('; ')]).toEqual([
      'info',
      expect.arrayContaining([expect.stringContaining(`GRANT ${privilege} TO ${LOGIN}`)]),
    ]);
    expect(checks.toSorted()).toEqual(
      skippedWithout(dialect({ mysql: 'MySQL', mariadb: 'MariaDB' }))
        .get(named)
        ?.toSorted(),
    );
    expect(await missing()).toMatchObject({ status: 'ok' });
  },
);

test('the page for MySQL lists every GRANT and the checks that need it', () => {
  const given = pastedSql('MySQL').flat().join(';\n').toLowerCase();
  const asking = mysqlChecks.map(({ id, privilege }) => ({ id, asks: [privilege?.(80_400) ?? []].flat() }));
  expect(new Set(asking.flatMap(({ asks }) => asks))).toEqual(
    new Set(onMySql.map(([, privilege]) => privilege)),
  );
  for (const [named, privilege] of onMySql) {
    const [, what = '', on = ''] = /^(.+) on (\S+)$/.exec(privilege.toLowerCase()) ?? [];
    expect(
      given.split(';\n').filter((text) => text.includes(what) && text.includes(` on ${on} to `)),
    ).toHaveLength(1);
    const ids = asking
      .filter(({ id, asks }) => asks.includes(privilege) && id !== 'MY_INDEX_GT_DATA') // only with many tables
      .map(({ id }) => id);
    expect(skippedWithout('MySQL').get(named)?.toSorted(), named).toEqual(ids.toSorted());
  }
});
