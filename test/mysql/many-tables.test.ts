import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Row } from '../../src/checks/fault.ts';
import { versionNumber } from '../../src/checks/mysql/flavour.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { largestTables } from '../../src/checks/mysql/suspects.ts';
import { rowsOf } from '../../src/checks/rows.ts';
import { mysqlReadings } from '../../src/checks/vitals/mysql-readings.ts';
import { measure as measureServer } from '../../src/monitor/measure.ts';
import type { Session, Target } from '../../src/monitor/session/session.ts';
import { readMysqlSchema } from '../../src/runs/changes/mysql-schema.ts';
import { measure } from './measure.ts';
import { type Login, MysqlServer, PASSWORD } from './mysql-server.ts';
import { ENGINE, numbers, ON_MYSQL } from './tested-server.ts';
import { withinSession } from './within-session.ts';

// More than a check looks at one by one, and more than the checks of large indexes open.
const TABLES = 600;

let server: MysqlServer;
let target: Target;

// A server opens a table for its sizes, MariaDB also for the types of its indexes, which takes most of a run's time on a server
// with thousands of them; so this counts opened tables, not seconds.
beforeAll(async () => {
  server = await MysqlServer.start({
    'innodb-flush-log-at-trx-commit': '0',
    'performance-schema-instrument': 'wait/lock/metadata/sql/mdl=ON',
  });
  target = {
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
  };
  await server.run([
    `create procedure fill()
     begin
       declare n int default 1;
       while n <= ${TABLES} do
         set @statement = concat('create table t', n, ' (id int auto_increment primary key, a int, key (a))');
         prepare made from @statement;
         execute made;
         set n = n + 1;
       end while;
     end`,
    'call fill()',
    'create table `no key#P#1 ü` (a int)',
    'create table parts (a int) partition by hash (a) partitions 3',
    'create table spare (a int primary key, b int, c int, key short (b), key wide (b, c))',
    'create table old (a int primary key, b int, key one (b), key two (b)) engine = MyISAM',
    // The collation of MariaDB's information_schema takes the names of each pair for one.
    'create table cafe (a int)',
    'create table café (a int primary key)',
    'create table Upper (a int)',
    'create table upper (a int primary key)',
    'create table nearly (id tinyint auto_increment primary key, note varchar(9) character set latin1) auto_increment = 125',
    'create table one (id int primary key, user_code varchar(9) collate utf8mb4_bin)',
    'create table two (id int primary key, user_code varchar(9) collate utf8mb4_general_ci)',
  ]);
});
afterAll(() => server.stop());

const opened = async () => {
  const [row] = await server.run("show global status like 'Opened_tables'");
  return Number(row?.['Value']);
};

function checkOf(id: string) {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  return check;
}

test.each([
  ['MY_NO_PRIMARY_KEY', ['`Upper`', '`cafe`', '`no key#P#1 ü`', '`parts`']],
  ['MY_REDUNDANT_INDEX', ['`old`.`two`', '`spare`.`short`']],
  ['MY_NON_INNODB', ['`old`']],
  ['MY_CHARSET_LEGACY', ['`nearly`']],
  ['MY_MIXED_COLLATIONS', ['`shop`']],
])('%s of many tables finds each fault and opens few tables', async (id, objects) => {
  await server.run('flush tables');
  const before = await opened();
  const { faults, truncated } = await measure(server, checkOf(id), { thresholds: { minimum_bytes: 0 } });
  expect(faults.map(({ object }) => object?.replace('`shop`.', '')).sort()).toEqual(objects);
  expect(truncated).toBe(false);
  if (!ON_MYSQL) expect((await opened()) - before).toBeLessThan(TABLES / 10);
});

test('MY_AUTOINC_EXHAUSTION of many tables finds a small one', async () => {
  const { faults, truncated } = await measure(server, checkOf('MY_AUTOINC_EXHAUSTION'));
  expect(faults).toMatchObject([{ object: '`shop`.`nearly`' }]);
  expect(truncated).toBe(false);
});

test.each([
  [0, true],
  [2 ** 30, false],
])(
  'checks of large indexes from %i bytes on say whether they left tables out: %s',
  async (bytes, partial) => {
    for (const id of ['MY_INDEX_GT_DATA', 'MY_UNUSED_INDEX']) {
      const thresholds = { minimum_bytes: bytes, statistics_days: 0 };
      const {
        truncated,
        skippedForSize = false,
        skipped,
      } = await measure(server, checkOf(id), { thresholds });
      expect({ id, truncated, skippedForSize, skipped }).toEqual({
        id,
        truncated: partial,
        skippedForSize: partial,
        skipped: undefined,
      });
    }
  },
);

// MariaDB reads a table's file when the table is first used. Until then its views do not have the file's size.
test('after a restart, a large index is found, or the run says that it left tables out; the next run finds it', async () => {
  await server.run([
    'create table fat (id int primary key, a varchar(500), key one (a), key two (id, a)) charset latin1',
    `insert into fat select seq, repeat(char(97 + seq % 26), 500) from ${numbers(1, 2_000)}`,
    'analyze table fat',
  ]);
  await server.restart();
  const thresholds = { minimum_bytes: 1_000_000, statistics_days: 0 };
  const large = async () => {
    const { faults, skippedForSize = false } = await measure(server, checkOf('MY_INDEX_GT_DATA'), {
      thresholds,
    });
    return { found: faults.some(({ object }) => object === '`shop`.`fat`'), leftOut: skippedForSize };
  };
  const first = await large();
  if (ON_MYSQL) expect(first).toEqual({ found: true, leftOut: false });
  else expect(first.leftOut).toBe(true); // 600 files are unread, and it opens 500 tables
  expect(await large()).toEqual({ found: true, leftOut: false });
});

test.skipIf(ON_MYSQL)('too many unread files of a schema stay unread, and the run says so', async () => {
  await server.restart();
  await server.run('select count(*) from fat');
  const { before = '', sql, leavesOut } = largestTables(110_806, TABLES);
  if (typeof sql !== 'function') throw new Error('The statement depends on what is unread.');
  const rows = await server.run(before);
  expect(rows).toMatchObject([{ unread_schema: 'shop' }]);
  const unread = Number(rows[0]?.['unread_files']);
  expect(unread).toBeGreaterThan(TABLES / 2);
  const found = async (of: Row[]) =>
    new Map((await server.run(sql(of))).map((row) => [row['suspect_table'], Number(row['suspect_bytes'])]));
  expect(leavesOut?.(rows)).toBe(false);
  expect((await found(rows)).size).toBe(TABLES + 1);
  const many = [
    { unread_schema: 'small', unread_files: 4_000 },
    { unread_schema: 'shop', unread_files: unread },
  ];
  expect(leavesOut?.(many)).toBe(true);
  const read = await found(many);
  expect(read.size).toBeLessThan(TABLES - unread + 100);
  expect(read.get('fat')).toBeGreaterThan(1_000_000);
  expect(read.get('fat')).toBeLessThan(1e9);
});

test('a full-text index has files of its own, which are no tables that were left out', async () => {
  await server.run([
    `create procedure fill_texts()
     begin
       declare n int default 1;
       while n <= 60 do
         set @statement = concat('create table text', n, ' (id int primary key, body text, fulltext key (body))');
         prepare made from @statement;
         execute made;
         set n = n + 1;
       end while;
     end`,
    'call fill_texts()',
  ]);
  await server.restart();
  await measure(server, checkOf('MY_AUTOINC_EXHAUSTION')); // MariaDB reads the files of all tables
  const { skippedForSize = false } = await measure(server, checkOf('MY_INDEX_GT_DATA'));
  expect(skippedForSize).toBe(false);
});

test('no metadata lock on a table outlives a statement', async () => {
  const watch = await server.open();
  const locksOf = async (login: Login) => {
    const [held] = await watch.query(`
      select object_name from performance_schema.metadata_locks l
        join performance_schema.threads t on t.thread_id = l.owner_thread_id
       where t.processlist_user = '${login}' and l.object_schema = 'shop' and l.object_name like 't%'`);
    return held;
  };
  const holder = await server.open('app');
  await holder.query('start transaction');
  await holder.query('select * from t1');
  expect(await locksOf('app')).toHaveLength(1);
  await holder.end();
  let statements = 0;
  const asked = async (session: Session, statement: string) => {
    const rows = await session.read(statement);
    statements += 1;
    expect(await locksOf('watcher'), statement).toEqual([]);
    return rows;
  };
  const [named] = await server.run('select version() as text');
  const version = versionNumber(String(named?.['text'])) ?? 0;
  for (const check of mysqlChecks) {
    await withinSession(target, (session) =>
      rowsOf(check, { engine: ENGINE, version }, (statement) => asked(session, statement)),
    ).catch((error: unknown) => {
      if (!isRefused(error)) throw error;
    });
  }
  await withinSession(target, async (session) => {
    for (const reading of mysqlReadings) {
      for (const statement of reading.sql(version)) await asked(session, statement);
    }
    await readMysqlSchema(
      (statement) => asked(session, statement),
      (value) => value,
      { version, me: `'watcher'@'localhost'` },
    );
  });
  expect(statements).toBeGreaterThan(100);
  await watch.end();
});

/** The server lacks what a check reads, such as group replication. */
function isRefused(error: unknown): boolean {
  return typeof (error as { errno?: unknown }).errno === 'number';
}

// An ALTER TABLE that waits keeps out what asks for a lock after it. Of MySQL's views INNODB_TABLES would wait so.
test('an ALTER TABLE that waits delays no check, and a run delays no ALTER TABLE', async () => {
  const [holder, altering, app] = await Promise.all([
    server.open('app'),
    server.open('app'),
    server.open('app'),
  ]);
  await holder.query('start transaction');
  await holder.query('select * from t1');
  const waiting = altering.query('alter table t1 add column later int');
  await server.until(
    `select count(*) = 1 from information_schema.processlist where state like 'Waiting for table metadata lock'`,
  );
  await app.query('set lock_wait_timeout = 2');
  let isOver = false;
  const altered = (async () => {
    for (let times = 0; !isOver; times++) {
      await app.query(`alter table t${2 + (times % 500)} comment = 'change ${times}'`);
    }
  })();
  const { outcomes } = await measureServer(target, {
    allowPrivateTargets: true,
    thresholds: {},
    signal: AbortSignal.timeout(100_000),
    facts: { key: '', known: [], started: null },
  });
  isOver = true;
  const failed = outcomes.flatMap(({ findings }) => findings.filter(({ status }) => status === 'error'));
  expect(failed.map(({ check_id, metric_line }) => `${check_id}: ${metric_line}`)).toEqual([]);
  await altered; // none waited for a lock
  await holder.query('commit');
  await waiting;
  await Promise.all([holder.end(), altering.end(), app.end()]);
});

// InnoDB's dictionary would be the only source: without it, nothing is said, rather than that nothing was found.
test.skipIf(ON_MYSQL)('MY_NO_PRIMARY_KEY of many tables, without PROCESS, names the privilege', async () => {
  await server.run('revoke process on *.* from watcher@localhost');
  await expect(measure(server, checkOf('MY_NO_PRIMARY_KEY'))).rejects.toMatchObject({ errno: 1227 });
});

test('tables without transactions, more than are looked at one by one: their sizes are not read', async () => {
  await server.run([
    `create procedure fill_old()
     begin
       declare n int default 1;
       while n <= 1001 do
         set @statement = concat('create table old', n, ' (id int primary key) engine = MyISAM');
         prepare made from @statement;
         execute made;
         set n = n + 1;
       end while;
     end`,
    'call fill_old()',
    'flush tables',
  ]);
  const before = await opened();
  const judgement = await measure(server, checkOf('MY_NON_INNODB'), { thresholds: { minimum_bytes: 0 } });
  expect([judgement.faults.length, judgement.truncated, judgement.skippedForSize]).toEqual([
    100,
    true,
    undefined,
  ]);
  if (!ON_MYSQL) expect((await opened()) - before).toBeLessThan(200); // those that it lists
});
