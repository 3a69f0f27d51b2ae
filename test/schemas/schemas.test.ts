import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measure } from '../../src/monitor/measure.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { PASSWORD, PostgresServer } from '../checks/postgres-server.ts';
import { MysqlServer } from '../mysql/mysql-server.ts';
import { paste } from '../mysql/paste.ts';
import { ENGINE, ON_MYSQL } from '../mysql/tested-server.ts';
import { rootPostgres, rootProgram } from '../roots/root-program.ts';
import { ROOTS } from '../roots/roots.ts';
import { cellsOf, judgedFindings, NOT_JUDGED, writeFindings } from './judged.ts';
import { readSchemas } from './read-schema.ts';

// Without the root folder: npm's PostgreSQL and this machine's client.
const hasRoot = existsSync(join(ROOTS, 'trixie'));
const isWriting = process.env['WRITE_JUDGED'] !== undefined;

const LOGIN: Omit<Target, 'engine' | 'host' | 'port' | 'database'> = {
  username: 'watcher',
  password: PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
  connectionType: 'unix_socket',
};

test('PostgreSQL: every finding is judged', { timeout: 300_000 }, async () => {
  const server = await PostgresServer.start(hasRoot ? rootPostgres() : undefined);
  try {
    const { host, port } = server;
    const schemas = readSchemas('postgres');
    const psql = (database: string, sql: string) =>
      execFileSync(
        hasRoot ? rootProgram('psql') : 'psql',
        [
          '--quiet',
          '--no-psqlrc',
          '--set',
          'ON_ERROR_STOP=1',
          '--host',
          host,
          '--port',
          `${port}`,
          '--username',
          'postgres',
          database,
        ],
        {
          input: sql,
          env: { ...process.env, PGPASSWORD: PASSWORD, PGOPTIONS: '-c client_min_messages=warning' },
          stdio: ['pipe', 'ignore', 'inherit'],
          maxBuffer: 1e8,
        },
      );
    for (const [name, sql] of schemas) {
      await server.run(`create database "${name}"`);
      psql(name, sql);
      // Autovacuum would do this some time later.
      psql(name, 'vacuum analyze;');
    }
    await server.run('grant pg_read_all_data to watcher');
    const target: Target = { ...LOGIN, engine: 'postgres', host, port, database: server.database };
    await judge('PostgreSQL', target, [...schemas.keys()]);
  } finally {
    await server.stop();
  }
});

test('MySQL or MariaDB: every finding is judged', { timeout: 300_000 }, async () => {
  // Creating tables takes a minute if the disk confirms each.
  const server = await MysqlServer.start({
    'innodb-flush-log-at-trx-commit': '0',
    'innodb-flush-method': 'nosync',
    'sync-binlog': '0',
  });
  try {
    const schemas = readSchemas(ENGINE);
    for (const [name, sql] of schemas) {
      await server.run(`create database \`${name}\` character set utf8mb4`);
      paste(server, sql, name);
    }
    await server.run('grant select on *.* to watcher@localhost');
    const target: Target = { ...LOGIN, engine: ENGINE, host: server.socket, port: 3306, database: '' };
    await judge(ON_MYSQL ? 'MySQL 9.7' : 'MariaDB 10.11', target, [...schemas.keys()]);
  } finally {
    await server.stop();
  }
});

/** Measures the server: its findings on these schemas are those of the document, and each is judged right. */
async function judge(server: string, target: Target, schemas: readonly string[]): Promise<void> {
  const { outcomes } = await measure(target, {
    allowPrivateTargets: true,
    thresholds: {},
    signal: new AbortController().signal,
  });
  const failed = outcomes.flatMap(({ findings }) => findings.filter(({ status }) => status === 'error'));
  expect(failed).toEqual([]);
  const faults = outcomes
    .flatMap(({ findings }) => findings)
    .filter(({ status }) => status === 'critical' || status === 'warning' || status === 'info');
  const schemaOf = (finding: (typeof faults)[number]) =>
    schemas.find(
      (name) =>
        finding.database === name || finding.object?.startsWith(`\`${name}\``) || finding.object === name,
    );
  const findings = faults.flatMap((finding) => {
    const schema = schemaOf(finding);
    return schema === undefined ? [] : [cellsOf(finding, schema)];
  });
  if (isWriting) writeFindings(server, findings.toSorted());
  const judged = judgedFindings(server);
  expect(findings.toSorted()).toEqual(judged.map(({ finding }) => finding).toSorted());
  expect(judged.filter(({ judgement }) => judgement === NOT_JUDGED || judgement === '')).toEqual([]);
}
