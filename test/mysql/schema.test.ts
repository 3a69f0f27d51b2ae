import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JudgementInput } from '../../src/checks/judgement-of.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { type Login, MariadbServer } from './mariadb-server.ts';
import { measure } from './measure.ts';

let server: MariadbServer;

beforeAll(async () => {
  server = await MariadbServer.start();
});
afterAll(() => server?.stop());
beforeEach(() => server.run(['drop database shop', 'create database shop'], ''));

const ALL = { thresholds: { statistics_days: 0, minimum_bytes: 0 } };

async function judged(id: string, facts: Pick<JudgementInput, 'thresholds'> = {}, login: Login = 'watcher') {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  return measure(server, check, facts, login);
}
const objects = async (id: string, facts?: Pick<JudgementInput, 'thresholds'>) =>
  (await judged(id, facts)).faults.map(({ object }) => object?.replace('`shop`.', ''));

const fine: [string, string, string[]][] = [
  [
    'MY_NO_PRIMARY_KEY',
    'a view, a sequence, another engine, a temporary table',
    ['create view v as select 1 as one', 'create sequence s', 'create table m (a int) engine = MyISAM'],
  ],
  [
    'MY_AUTOINC_EXHAUSTION',
    'room in an unsigned column, in a wide one, and a column without AUTO_INCREMENT',
    [
      'create table a (id int unsigned auto_increment primary key) auto_increment = 2147483647',
      'create table b (id bigint auto_increment primary key) auto_increment = 4294967295',
      'create table c (id tinyint primary key)',
      'insert into c values (127)',
    ],
  ],
  [
    'MY_NON_INNODB',
    'rows stored elsewhere, a view, a sequence',
    ['create table b (a int) engine = MERGE', 'create view v as select 1 as one', 'create sequence s'],
  ],
  [
    'MY_REDUNDANT_INDEX',
    'another order of columns, direction, length, kind; unique ones; and the longer one ignored',
    [
      'create table a (x int, y int, z varchar(90), t text, u int unique, key (y), key (x, y), key (u, x))',
      'create table b (x int, z varchar(90), key (x), key (x desc, z), key (z), key (z(10), x), fulltext (z))',
      'create table c (x int, y int, key k (x), key l (x, y) ignored)',
      'create table d (x int primary key, y int, unique (y, x))',
    ],
  ],
  [
    'MY_UNUSED_INDEX',
    'primary key, unique, foreign key (either side), AUTO_INCREMENT, full-text and ignored indexes',
    [
      'create table a (id int primary key, x int unique, y int, t text, key (y), key i (x, y) ignored, fulltext (t))',
      'create table b (n int auto_increment, y int, key (n), key (y), foreign key (y) references a (y))',
    ],
  ],
  [
    'MY_CHARSET_LEGACY',
    'every character, codes in ASCII, bytes, and what a view makes of it',
    [
      'create table a (x varchar(9) character set utf16, c char(2) character set ascii, b blob, n int) character set latin1',
      `create view v as select convert('x' using latin1) as x`,
    ],
  ],
  [
    'MY_INDEX_GT_DATA',
    'indexes as large as the rows',
    ['create table a (id int primary key, x int, key (x))'],
  ],
];

test.each(fine)('%s is silent: %s', async (id, _, statements) => {
  await server.run(statements);
  const { faults, skipped, truncated } = await judged(id, ALL);
  expect({ faults, skipped, truncated }).toEqual({ faults: [], truncated: false });
});

const faulty: [string, string[], string[]][] = [
  [
    'MY_REDUNDANT_INDEX',
    [
      'create table a (id int primary key, x int, y int, key one (x), key two (x), key three (x, y))',
      'create table b (id int primary key, y int, unique u (id), key i (id, y), key (y, id), key z (y))',
      'create table c (x int not null, y int, key k (x), unique u (x), key gone (y) ignored, key (y))',
    ],
    ['`a`.`one`', '`a`.`two`', '`b`.`u`', '`b`.`z`', '`c`.`gone`', '`c`.`k`'],
  ],
  [
    'MY_NO_PRIMARY_KEY',
    [
      'create table a (x int) partition by hash (x) partitions 2',
      'create table b (x int) with system versioning',
      'create table `c`.`d``e` (x int)',
    ],
    ['`c`.`d``e`', '`a`', '`b`'],
  ],
  [
    'MY_NON_INNODB',
    ['create table a (x int) engine = Aria', 'create table b (x int) engine = MEMORY'],
    ['`a`', '`b`'],
  ],
];

test.each(faulty)('%s finds each faulty object', async (id, statements, names) => {
  await server.run('create database if not exists c');
  await server.run(statements);
  expect(await objects(id)).toEqual(names);
  await server.run('drop database c');
});

test('unique keys and AUTO_INCREMENT columns are proposed as the key, and the SQL runs', async () => {
  await server.run([
    'create table a (x int, y int not null, `z``z` int not null, unique (x), unique u (y, `z``z`))',
    'create table b (id int, n int auto_increment, key (n))',
    'create table c (id int not null)',
    'create table d (x int)',
    'create table e (t text not null, unique (t(10)))',
  ]);
  const { faults } = await judged('MY_NO_PRIMARY_KEY');
  expect(faults.map(({ remediation }) => remediation)).toEqual([
    'ALTER TABLE `shop`.`a` ADD PRIMARY KEY (`y`, `z``z`), DROP INDEX `u`;',
    'ALTER TABLE `shop`.`b` ADD PRIMARY KEY (`n`);',
    'ALTER TABLE `shop`.`c` ADD PRIMARY KEY (`id`);',
    'ALTER TABLE `shop`.`d` ADD COLUMN id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY;',
    'ALTER TABLE `shop`.`e` ADD COLUMN id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY;',
  ]);
  await server.run(faults.map(({ remediation }) => remediation));
  expect(await objects('MY_NO_PRIMARY_KEY')).toEqual([]);
});

test('an index that was read is no finding', async () => {
  await server.run(['create table a (id int primary key, x int, key (x))', 'insert into a values (1, 2)']);
  expect(await objects('MY_UNUSED_INDEX', ALL)).toEqual(['`a`.`x`']);
  await server.run('select * from a force index (x) where x = 2');
  expect(await objects('MY_UNUSED_INDEX', ALL)).toEqual([]);
});

test('if reads are not counted, the check is skipped', async () => {
  expect((await judged('MY_UNUSED_INDEX')).skipped).toMatch(/counted for .* it takes 35 days/);
  const instrument = (enabled: string) =>
    server.run(
      `update performance_schema.setup_instruments set enabled = '${enabled}' where name = 'wait/io/table/sql/handler'`,
    );
  await instrument('NO');
  expect((await judged('MY_UNUSED_INDEX', ALL)).skipped).toMatch(/configured to exclude reads/);
  await instrument('YES');
  expect((await judged('MY_UNUSED_INDEX', ALL)).skipped).toBeUndefined();
});

const ofTables = [
  'MY_NO_PRIMARY_KEY',
  'MY_AUTOINC_EXHAUSTION',
  'MY_NON_INNODB',
  'MY_REDUNDANT_INDEX',
  'MY_UNUSED_INDEX',
  'MY_CHARSET_LEGACY',
  'MY_INDEX_GT_DATA',
];

test.each(ofTables)('%s is never ok if tables may be hidden, and REFERENCES shows them', async (id) => {
  await server.run(['create table a (x int)', 'grant select on performance_schema.* to stranger@localhost']);
  for (const seen of ['grant process', 'grant show view']) {
    await server.run(`${seen} on *.* to stranger@localhost`);
    const { skipped, grant } = await judged(id, ALL, 'stranger');
    expect(grant).toBe(`GRANT REFERENCES ON *.* TO 'stranger'@'localhost';`);
    if (seen === 'grant process') expect(skipped).toMatch(/may be hidden/);
  }
  await server.run(`GRANT REFERENCES ON *.* TO 'stranger'@'localhost'`);
  const { skipped, truncated } = await judged(id, ALL, 'stranger');
  expect({ skipped, truncated }).toEqual({ truncated: false });
  await server.run('revoke all privileges, grant option from stranger@localhost');
});

test('REFERENCES allows no reading, creating or changing', async () => {
  await server.run(['create table a (id int primary key)', 'grant references on *.* to stranger@localhost']);
  const session = await server.open('stranger');
  try {
    for (const statement of [
      'select id from shop.a',
      'select count(*) from shop.a',
      'create table shop.b (id int, foreign key (id) references a (id))',
      'insert into shop.a values (1)',
      'delete from shop.a',
      'lock tables shop.a read',
    ]) {
      await expect(session.query(statement), statement).rejects.toThrow(/denied/);
    }
  } finally {
    await session.end();
    await server.run('revoke all privileges, grant option from stranger@localhost');
  }
});
