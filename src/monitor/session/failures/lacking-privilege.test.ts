import { expect, test } from 'vitest';
import { postgresChecks } from '../../../checks/postgres/postgres-checks.ts';
import { failedSample } from '../../measures/failed-sample.ts';

const denied = (message: string, code = '42501') => Object.assign(new Error(message), { code });
const deniedByMysql = (errno: number, message: string) =>
  Object.assign(new Error(message), { errno, sqlState: '42000' });

const plain = postgresChecks.find(({ privilege }) => !privilege);
if (!plain) throw new Error('Most checks need no privilege of their own.');

const place = { version: 180_000, me: 'watcher', database: 'shop' };

test.each<[string, Error, string | undefined]>([
  ['a schema', denied('permission denied for schema stats'), 'GRANT USAGE ON SCHEMA "stats" TO watcher;'],
  [
    'a table',
    denied('permission denied for table pg_statistic'),
    'GRANT SELECT ON TABLE "pg_statistic" TO watcher;',
  ],
  [
    'a schema with more in its name',
    denied('permission denied for schema x"; \\! f'),
    'GRANT USAGE ON SCHEMA "x""; \\! f" TO watcher;',
  ],
  ['a table of the customer', denied('permission denied for table payroll'), undefined],
  ['a view with more in its name', denied('permission denied for view pg_x"; \\! f'), undefined],
  ['a function of the customer', denied('permission denied for function drop_everything'), undefined],
  [
    'a function',
    denied('permission denied for function pg_ls_waldir'),
    'GRANT EXECUTE ON FUNCTION "pg_ls_waldir" TO watcher;',
  ],
  ['in another language', denied('keine Berechtigung für Schema stats'), 'GRANT pg_monitor TO watcher;'],
  [
    'a privilege of MySQL',
    deniedByMysql(
      1227,
      'Access denied; you need (at least one of) the PROCESS privilege(s) for this operation',
    ),
    'GRANT PROCESS ON *.* TO watcher;',
  ],
  [
    'a table of MySQL',
    deniedByMysql(1142, "SELECT command denied to user 'watcher'@'localhost' for table `mysql`.`user`"),
    'GRANT SELECT ON `mysql`.`user` TO watcher;',
  ],
  [
    'one of several, the one that changes nothing',
    deniedByMysql(1227, 'you need (at least one of) the SUPER, REPLICATION CLIENT privilege(s)'),
    'GRANT REPLICATION CLIENT ON *.* TO watcher;',
  ],
  [
    'what no check needs',
    deniedByMysql(1227, 'you need (at least one of) the SUPER, ALL PRIVILEGES privilege(s)'),
    undefined,
  ],
  [
    'a table of the customer in MySQL',
    deniedByMysql(1142, "SELECT command denied to user 'watcher'@'%' for table `shop`.`payroll`"),
    undefined,
  ],
  [
    'a write to a table of MySQL',
    deniedByMysql(1142, "DELETE command denied to user 'watcher'@'%' for table `mysql`.`user`"),
    undefined,
  ],
  ['what it does not say', deniedByMysql(1044, 'no'), undefined],
])('a check without a privilege of its own names the missing one: %s', (_, error, grant) => {
  const sample = failedSample(plain, place, error);
  expect('judgement' in sample && 'skipped' in sample.judgement ? sample.judgement.grant : undefined).toBe(
    grant,
  );
});
