import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { measure } from '../../src/monitor/measure.ts';
import { pastedLogin, pastedSql, privilegesMissing, skippedWithout } from '../pasted-sql.ts';
import { MariadbServer } from './mariadb-server.ts';

// Otherwise it is skipped for the server's short uptime, before it checks its privilege.
const AT_ONCE = { MY_UNUSED_INDEX: { statistics_days: 0 } };

const LOGIN = "'dbvitals_watcher'@'%'";

let server: MariadbServer;
beforeAll(async () => {
  server = await MariadbServer.start();
  await server.run('create table orders (id int primary key)');
  await server.run(pastedSql('MariaDB').flat());
});
afterAll(() => server?.stop());

/** The privileges missing in a run as the login that the page creates. */
async function missing() {
  const target = pastedLogin({ engine: 'mariadb', host: server.socket, port: 3306, database: '' });
  const signal = new AbortController().signal;
  return privilegesMissing(await measure(target, { allowPrivateTargets: true, thresholds: AT_ONCE, signal }));
}

test('with the GRANTs of the page, no check lacks a privilege', async () => {
  expect(await missing()).toEqual({ status: 'ok', checks: [], grants: '' });
});

test.each([
  ['PROCESS', 'PROCESS ON *.*'],
  ['SLAVE MONITOR', 'SLAVE MONITOR ON *.*'],
  ['REFERENCES', 'REFERENCES ON *.*'],
  ['SELECT on `performance_schema`', 'SELECT ON performance_schema.*'],
  ['SELECT on `mysql.global_priv`', 'SELECT ON mysql.global_priv'],
])('without %s its checks are skipped, and the finding names that GRANT', async (named, privilege) => {
  await server.run(`revoke ${privilege} from ${LOGIN}`);
  const { status, checks, grants } = await missing();
  await server.run(grants.split(/;\s*/).filter((grant) => grant !== ''));
  expect([status, grants.split('; ')]).toEqual([
    'info',
    expect.arrayContaining([expect.stringContaining(`GRANT ${privilege} TO ${LOGIN}`)]),
  ]);
  expect(checks.toSorted()).toEqual(skippedWithout('MariaDB').get(named)?.toSorted());
  expect(await missing()).toMatchObject({ status: 'ok' });
});

/** The privilege as the page's table writes it. */
const onMySql: [string, string][] = [
  ['PROCESS', 'PROCESS ON *.*'],
  ['REPLICATION CLIENT', 'REPLICATION CLIENT ON *.*'],
  ['SELECT on `performance_schema`', 'SELECT ON performance_schema.*'],
  [
    'SELECT on columns of `mysql.user`',
    'SELECT (user, host, plugin, authentication_string, account_locked) ON mysql.user',
  ],
];

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
    const ids = asking.filter(({ asks }) => asks.includes(privilege)).map(({ id }) => id);
    expect(skippedWithout('MySQL').get(named)?.toSorted(), named).toEqual(ids.toSorted());
  }
});
