import { afterAll, beforeAll, expect, test } from 'vitest';
import { mysqlCatalogue } from '../../src/checks/mysql/mysql-catalogue.ts';
import { providerOfMysql } from '../../src/vocabulary/hosted/providers.ts';
import { measure } from './measure.ts';
import { MysqlServer } from './mysql-server.ts';

let server: MysqlServer;
beforeAll(async () => {
  server = await MysqlServer.start({ 'local-infile': 'ON', 'sync-binlog': '0', 'sql-mode': '' });
});
afterAll(() => server?.stop());

// From documentation: docs/hosted-databases.md.
test.each([
  ['rds', '8.0.36', 'Source distribution', '/rdsdbbin/mysql-8.0.36.R1/', []],
  [
    'rds',
    '10.11.6-MariaDB-log',
    'managed by https://aws.amazon.com/rds/',
    '/rdsdbbin/mariadb-10.11.6.R1/',
    [],
  ],
  ['aurora', '8.0.28', '8bc99e28', '/rdsdbbin/oscar-8.0.mysql_aurora.3.05.2/', ['aurora_version']],
  ['cloudsql', '8.0.31-google', '(Google)', '/usr/', []],
  ['cloudsql', '8.4.2', '(Google)', '/usr/', []],
  ['azure', '8.0.37-azure', 'MySQL Community Server - GPL', '/app/mysql/', []],
  ['azure', '8.0.37', 'MySQL Community Server - GPL', '/usr/', ['aad_auth_only']],
  [null, '8.0.36', 'MySQL Community Server - GPL', '/usr/', []],
  [null, '10.11.6-MariaDB-0+deb12u1', 'Debian 12', '/usr', []],
] as const)('%s: version %s, %s', (provider, version, comment, folder, variables) => {
  expect(providerOfMysql({ version, comment, folder, variables })).toBe(provider);
});

test.each([
  ['rds', 'aws rds modify-db-parameter-group'],
  ['aurora', 'aws rds modify-db-cluster-parameter-group'],
  ['cloudsql', 'gcloud sql instances patch INSTANCE --database-flags'],
  ['azure', 'az mysql flexible-server parameter set'],
  ['digitalocean', '--engine mysql --config-json'],
  ['aiven', 'avn service update SERVICE -c mysql.'],
] as const)(
  'settings are changed in the terms of %s, never by SQL or an option file',
  async (provider, way) => {
    const remediations = new Map<string, string>();
    for (const check of mysqlCatalogue.checks) {
      const judgement = await measure(server, check, { provider });
      if ('skipped' in judgement) continue;
      for (const { remediation } of judgement.faults) {
        expect(remediation).not.toMatch(/SET GLOBAL|SET PERSIST|option file/);
        remediations.set(check.id, remediation);
      }
    }
    for (const id of ['MY_LOCAL_INFILE', 'MY_SYNC_BINLOG', 'MY_SQL_MODE_LAX'])
      expect(remediations.get(id)).toContain(way);
  },
);
