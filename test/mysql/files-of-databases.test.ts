import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { versionNumber } from '../../src/checks/mysql/flavour.ts';
import { mysqlReadings } from '../../src/checks/vitals/mysql-readings.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { readMysqlSchema } from '../../src/runs/changes/mysql-schema.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { ENGINE, numbers, ON_MYSQL } from './tested-server.ts';
import { withinSession } from './within-session.ts';

// With more, the sizes of databases are those of their files.
const TABLES = 2_000;

let server: MysqlServer;
let version: number;

beforeAll(async () => {
  server = await MysqlServer.start({ 'innodb-flush-log-at-trx-commit': '0', 'sync-binlog': '0' });
  await server.run([
    'set sql_log_bin = 0',
    `create procedure fill()
     begin
       declare n int default 1;
       while n <= ${TABLES} do
         set @statement = concat('create table t', n, ' (id int primary key)');
         prepare made from @statement;
         execute made;
         set n = n + 1;
       end while;
     end`,
    'call fill()',
    'create database other',
    'create table other.fat (id int primary key, body varchar(1000)) charset latin1',
    `insert into other.fat select seq, repeat('x', 1000) from ${numbers(1, 20_000)}`,
    'create table other.words (id int primary key, body text, fulltext key (body)) charset latin1',
  ]);
  const [named] = await server.run('select version() as text');
  version = versionNumber(String(named?.['text'])) ?? 0;
  // The files of a server that is running grow and are written late; after a clean stop they stay.
  await server.restart();
});
afterAll(() => server.stop());

const target = (): Target => ({
  engine: ENGINE,
  connectionType: 'unix_socket',
  host: server.socket,
  port: 0,
  database: '',
  username: 'watcher',
  password: PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
});

/** The sizes of databases, as a run reads them. */
async function sizes(): Promise<Record<string, number>> {
  const reading = mysqlReadings.find(({ id }) => id === 'VITALS_FILES');
  if (!reading) throw new Error('There is no such reading.');
  const rows = await withinSession(target(), async (session) => {
    const all = [];
    for (const statement of reading.sql(version)) all.push(...(await session.read(statement)));
    return all;
  });
  return Object.fromEntries(
    reading
      .values(reading.kept(rows), { version })
      .flatMap(({ metric, database = '', value }) =>
        metric === 'database_bytes' ? [[database, value]] : [],
      ),
  );
}

/** The bytes of a database's files on the disk. */
const onDisk = (database: string) =>
  readdirSync(join(server.data, database))
    .filter((name) => name.endsWith('.ibd'))
    .reduce((bytes, name) => bytes + statSync(join(server.data, database, name)).size, 0);

test('after a restart, the size of a database is that of all its files', async () => {
  expect(onDisk('other')).toBeGreaterThan(20_000_000);
  expect(await sizes()).toEqual({ shop: onDisk('shop'), other: onDisk('other') });
});

// MySQL opens tables for this too, but that takes a quarter of the time.
test.skipIf(ON_MYSQL)('what changed in many tables is read without opening them', async () => {
  await server.restart();
  const opened = async () => {
    const [row] = await server.run("show global status like 'Opened_tables'");
    return Number(row?.['Value']);
  };
  const before = await opened();
  await withinSession(target(), async (session) => {
    const facts = { version, me: `'watcher'@'localhost'` };
    await readMysqlSchema(
      (statement) =>
        session.read(statement.replace(/max_statement_time = [\d.]+/, 'max_statement_time = 60')),
      (value) => value,
      facts,
    );
  });
  expect((await opened()) - before).toBeLessThan(100);
});

test.skipIf(ON_MYSQL)('files are read although an ALTER TABLE waits', async () => {
  await server.restart();
  const [holder, altering] = await Promise.all([server.open('app'), server.open('app')]);
  await holder.query('start transaction');
  await holder.query('select * from t1');
  const waiting = altering.query('alter table t1 add column later int');
  await server.until(
    `select count(*) = 1 from information_schema.processlist where state = 'Waiting for table metadata lock'`,
  );
  expect(await sizes()).toMatchObject({ other: onDisk('other') });
  await holder.query('commit');
  await waiting;
  await Promise.all([holder.end(), altering.end()]);
});

test.skipIf(ON_MYSQL)('a table whose file is lost leaves the sizes of the others', async () => {
  await server.run('alter table t2 discard tablespace');
  await server.restart();
  expect(await sizes()).toEqual({ shop: onDisk('shop'), other: onDisk('other') });
});
