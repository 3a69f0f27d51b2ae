import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pasteableOn } from '../../support/page-statements.ts';
import { MysqlServer } from '../mysql-server.ts';
import { paste } from '../paste.ts';
import { replication } from '../replication-sql.ts';
import { ON_MYSQL } from '../tested-server.ts';

const [MYSQL, MARIADB] = [ON_MYSQL, !ON_MYSQL];
const NEW_MARIADB = process.env['TEST_MYSQL_SERVER'] === 'mariadb-11.8';

const ORDERS =
  'create table orders (id int primary key auto_increment, customer int, note varchar(9), key customer (customer), key note (note))';
const NORTH = [replication.copyFrom('north', '1', 'x')];

/** What the examples of a page are about. The database `shop` is empty before. */
const FIXTURES: Readonly<Record<string, readonly string[]>> = {
  CONN_AUTH_FAILED: ["create user if not exists watcher@'%' identified by 'x'"],
  MY_AUTH_LEGACY: ["create user if not exists app@'%' identified by 'x'"],
  MY_AUTOINC_EXHAUSTION: [ORDERS, ...(ON_MYSQL ? [] : ['create sequence invoice_number maxvalue 1000'])],
  MY_CHARSET_LEGACY: [
    'create table people (name varchar(90) not null) charset latin1',
    'create table towns (name varchar(90)) charset latin1',
  ],
  MY_EMPTY_PASSWORD: [
    "create user if not exists app@'%' identified by 'x'",
    "create user if not exists ''@localhost identified by 'x'",
  ],
  MY_INDEX_GT_DATA: [ORDERS],
  MY_MIXED_COLLATIONS: ['create table bills (payer_code varchar(20) not null)'],
  MY_NON_INNODB: ['create table log (line int) engine = MyISAM'],
  MY_NO_PRIMARY_KEY: ['create table notes (note int)'],
  MY_PRIVILEGE_MISSING: ["create user if not exists dbvitals_watcher@'%' identified by 'x'"],
  MY_REDUNDANT_INDEX: [ORDERS],
  MY_REPLICA_LAG: NORTH,
  MY_REPLICA_STOPPED: NORTH,
  MY_ROOT_REMOTE: ["create user if not exists root@'%' identified by 'x'"],
  MY_UNUSED_INDEX: [ORDERS],
};

/** What must come before a statement, where a page shows one or the other. */
const BETWEEN: Readonly<Record<string, readonly string[]>> = {
  'SELECT `id`, count(*) FROM `shop`.`notes` GROUP BY `id` HAVING count(*) > 1 LIMIT 1;': [
    'drop table notes',
    'create table notes (id int not null)',
  ],
};

/** What a page's statements leave, and others do not bear. */
const CLEAN_UP: Readonly<Record<string, readonly string[]>> = {
  MY_REPLICA_LAG: replication.forget('north'),
  MY_REPLICA_WRITABLE: [
    ...(ON_MYSQL ? ['set global super_read_only = off'] : []),
    'set global read_only = off',
  ],
};

/** Statements that only one engine, or only some versions, have; the page says which. */
const ONLY: readonly (readonly [RegExp, boolean])[] = [
  [
    /\bPERSIST\b|BY RANDOM PASSWORD|FOR CHANNEL|REPLICA SQL_THREAD|^ALTER INSTANCE|\bALTER INDEX .* INVISIBLE/,
    MYSQL,
  ],
  [/\bALL SLAVES\b|slave_(?:parallel_threads|exec_mode)|REPLICA 'north'|EXECUTE IMMEDIATE/, MARIADB],
  [/SELECT @password|SET @password|information_schema\.innodb_lock_waits|\bIGNORED\b/, MARIADB],
  [/innodb_log_file_size|`invoice_number`/, MARIADB],
  [/^ALTER SEQUENCE .* AS bigint/, NEW_MARIADB],
  [/^SET GLOBAL innodb_doublewrite/, MYSQL || NEW_MARIADB],
];

/** Lines of an option file or a shell. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  MY_BINLOG_OFF: [
    '[mysqld]',
    'log_bin = binlog',
    'sync_binlog = 1',
    'binlog_expire_logs_seconds = 864000',
    'server_id = 1',
  ],
  MY_DOUBLEWRITE_OFF: ['[mysqld]', 'innodb_doublewrite = ON'],
  MY_FORCE_RECOVERY: ['mysqldump --all-databases --routines --events > all.sql'],
  MY_NAME_RESOLUTION: ['[mysqld]', 'skip_name_resolve = ON'],
};

/** Pages whose statements take a cluster or a group, and the test that pastes them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  MY_GALERA_UNSYNCED: '../galera.test.ts',
  MY_GROUP_MEMBER_DOWN: '../group-replication.test.ts',
};

let server: MysqlServer;
beforeAll(async () => {
  server = await MysqlServer.start();
});
afterAll(() => server?.stop());

const pages = readdirSync(join(import.meta.dirname, '../../../docs/checks'))
  .map((file) => file.replace('.md', ''))
  .filter((id) => /^(?:MY|CONN)_/.test(id) && !Object.hasOwn(ELSEWHERE, id));

test.each(pages)('%s: each statement of the page works as it is', async (id) => {
  const { statements, others } = pasteableOn(id);
  expect(others).toEqual(OTHERS[id] ?? []);
  await server.run(['drop database shop', 'create database shop']);
  for (const statement of FIXTURES[id] ?? []) await server.run(statement);
  for (const statement of statements) {
    if (ONLY.some(([shape, here]) => shape.test(statement) && !here)) continue;
    for (const each of BETWEEN[statement] ?? []) await server.run(each);
    if (!/^ALTER ROLE .* PASSWORD/.test(statement)) paste(server, statement, 'shop'); // of PostgreSQL
  }
  for (const statement of CLEAN_UP[id] ?? []) await server.run(statement);
});

test('what no single server takes is pasted by another test', () => {
  for (const [id, file] of Object.entries(ELSEWHERE))
    expect([
      id,
      readFileSync(join(import.meta.dirname, file), 'utf8').includes(`pasteableOn('${id}')`),
    ]).toEqual([id, true]);
});
