import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JudgementInput } from '../../src/checks/judgement-of.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { measure } from './measure.ts';
import { type Login, MysqlServer } from './mysql-server.ts';
import { paste } from './paste.ts';
import { dialect, numbers, ON_MYSQL } from './tested-server.ts';

let server: MysqlServer;

beforeAll(async () => {
  server = await MysqlServer.start();
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

const hidden = dialect({ mysql: 'invisible', mariadb: 'ignored' });
const sequence = ON_MYSQL ? [] : ['create sequence s'];

const fine: [string, string, string[]][] = [
  [
    'MY_NO_PRIMARY_KEY',
    'a unique key over NOT NULL columns, a view, a sequence, another engine',
    [
      'create table u (x int, y int not null, z varchar(9) not null, unique (x), unique (y, z))',
      'create view v as select 1 as one',
      ...sequence,
      'create table m (a int) engine = MyISAM',
    ],
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
    ['create table b (a int) engine = MERGE', 'create view v as select 1 as one', ...sequence],
  ],
  [
    'MY_REDUNDANT_INDEX',
    'another order of columns, direction, length, kind; unique ones; and the longer one ignored',
    [
      'create table a (x int, y int, z varchar(90), t text, u int unique, key (y), key (x, y), key (u, x))',
      'create table b (x int, z varchar(90), key (x), key (x desc, z), key (z), key (z(10), x), fulltext (z))',
      `create table c (x int, y int, key k (x), key l (x, y) ${hidden})`,
      'create table d (x int primary key, y int, unique (y, x))',
    ],
  ],
  [
    'MY_UNUSED_INDEX',
    'primary key, unique, foreign key (either side), AUTO_INCREMENT, full-text and ignored indexes',
    [
      `create table a (id int primary key, x int unique, y int, t text, unique (y), key (y), key i (x, y) ${hidden}, fulltext (t))`,
      'create table b (n int auto_increment, y int, key (n), key (y), foreign key (y) references a (y))',
    ],
  ],
  [
    'MY_CHARSET_LEGACY',
    'every character, codes, bytes, and what a view makes of it',
    [
      'create table a (x varchar(9) character set utf16, c char(2) character set ascii, b blob, n int) character set latin1',
      "create table c (id varchar(36), country_code varchar(9), iso char(3), size enum('s', 'm'), tag varchar(40) collate latin1_bin) character set latin1",
      `create view v as select convert('x' using latin1) as x`,
    ],
  ],
  [
    'MY_MIXED_COLLATIONS',
    'names that refer to nothing, one collation, numbers, a view',
    [
      'create table a (note varchar(9) collate utf8mb4_bin, user_id varchar(9) collate utf8mb4_bin, shop_id int)',
      'create table b (note varchar(9) collate utf8mb4_general_ci, user_id varchar(9) collate utf8mb4_bin)',
      `create view v as select 'x' collate utf8mb4_general_ci as user_id`,
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
    ['create table a (id int primary key, x int, y int, key one (x), key two (x), key three (x, y))'],
    ['`a`.`one`', '`a`.`two`'],
  ],
  [
    'MY_REDUNDANT_INDEX',
    ['create table b (id int primary key, y int, unique u (id), key i (id, y), key (y, id), key z (y))'],
    ['`b`.`u`', '`b`.`z`'],
  ],
  [
    'MY_REDUNDANT_INDEX',
    [`create table c (x int not null, y int, key k (x), unique u (x), key gone (y) ${hidden}, key (y))`],
    ['`c`.`k`'],
  ],
  [
    'MY_REDUNDANT_INDEX',
    ['create table a (x int, y int, key one (x))', 'create table A (x int, key two (x), key three (x))'],
    ['`A`.`two`'],
  ],
  [
    'MY_NO_PRIMARY_KEY',
    [
      'create table a (x int) partition by hash (x) partitions 2',
      `create table b (x int)${ON_MYSQL ? '' : ' with system versioning'}`,
      'create table `c`.`d``e` (x int)',
    ],
    ['`a`', '`b`', '`c`.`d``e`'],
  ],
  [
    'MY_NO_PRIMARY_KEY',
    ['create table a (x int)', 'create table A (x int primary key)', 'create view c.a as select 1 as one'],
    ['`a`'],
  ],
  [
    'MY_NON_INNODB',
    [
      `create table a (x int${dialect({ mysql: ' not null) engine = CSV', mariadb: ') engine = Aria' })}`,
      'create table b (x int) engine = MEMORY',
    ],
    ['`a`', '`b`'],
  ],
];

test.each(faulty)('%s finds each faulty object', async (id, statements, names) => {
  await server.run('create database if not exists c');
  await server.run(statements);
  expect((await objects(id, ALL)).sort()).toEqual(names);
  await server.run('drop database c');
});

test('small tables wait, unless an index has the same columns as another', async () => {
  const rows = (table: string) => `insert into ${table} select seq, seq from ${numbers(1, 60_000)}`;
  for (const name of ['small', 'large']) {
    await server.run([
      `create table ${name}_heap (x int, y int)`,
      `create table ${name} (x int primary key, y int, key one (y), key two (y, x))`,
      `create table ${name}_twice (x int primary key, y int, key one (y), key two (y))`,
      `create table ${name}_old (x int primary key, y int, z char(40) default 'z') engine = MyISAM`,
    ]);
  }
  await server.run([
    rows('large_heap'),
    rows('large'),
    rows('large_old (x, y)'),
    'analyze table large_heap, large',
  ]);
  const seen = async (id: string) =>
    (await judged(id)).faults.map(({ severity, object }) => `${severity} ${object?.replace('`shop`.', '')}`);
  expect(await seen('MY_NO_PRIMARY_KEY')).toEqual(['warning `large_heap`']);
  expect(await seen('MY_REDUNDANT_INDEX')).toEqual([
    'info `large_twice`.`two`',
    'info `small_twice`.`two`',
    'info `large`.`one`',
  ]);
  expect(await seen('MY_NON_INNODB')).toEqual(['warning `large_old`', 'info `small_old`']);
});

test('more than three notes on a schema are one finding, with statements that work', async () => {
  const names = ['a', 'b', 'c', 'd', 'A'];
  await server.run(names.map((name) => `create table ${name} (x int, d date) engine = MyISAM`));
  const [one, ...others] = (await judged('MY_NON_INNODB')).faults;
  expect([one?.object, others]).toEqual(['`shop`', []]);
  expect(one?.metricLine).toMatch(
    /^schema `shop` has 5 tables without transactions: .*`shop`.`d`; convert them to InnoDB.$/,
  );
  paste(server, one?.remediation ?? '');
  expect((await judged('MY_NON_INNODB')).faults).toEqual([]);
});

test('tables without transactions are listed by size', async () => {
  const table = (name: string) => `create table ${name} (x char(200)) engine = MyISAM`;
  await server.run(['a', 'b', 'c', 'd'].map(table));
  await server.run([`insert into c select 'x' from ${numbers(1, 300)}`, "insert into b values ('x')"]);
  const [one] = (await judged('MY_NON_INNODB')).faults;
  expect(one?.metricLine).toContain('`shop`.`c`, `shop`.`b`, `shop`.`a`, `shop`.`d`');
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
  'MY_MIXED_COLLATIONS',
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
