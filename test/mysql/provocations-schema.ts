import { expect } from 'vitest';
import type { Thresholds } from '../../src/checks/check.ts';
import type { Severity } from '../../src/vocabulary/severities.ts';
import type { Provocation } from './provocations.ts';
import { numbers, ON_MYSQL } from './tested-server.ts';

/** A fault that statements make and the finding's remediation fixes. */
function made(
  check_id: string,
  severity: Severity,
  object: string,
  statements: string[],
  thresholds?: Thresholds,
): Provocation {
  return {
    check_id,
    severity,
    object,
    ...(thresholds && { thresholds }),
    async provoke(server) {
      await server.run(statements);
      return async (remediation) => {
        const [look = '', steps = ''] = remediation.split(' -- then');
        const statements = [look, ...(/ALTER (?:TABLE|SEQUENCE) [^;]*;/.exec(steps) ?? [])];
        await server.run(statements.flatMap((each) => each.split(/(?<=;) /)));
      };
    },
  };
}

/** Small tables count too. */
const SMALL = { minimum_bytes: 0 };

/** Provocations of tables and indexes. */
export const schema: Provocation[] = [
  made(
    'MY_NO_PRIMARY_KEY',
    'warning',
    '`shop`.`notes`',
    ['create table notes (body varchar(100))', "insert into notes values ('a'), ('a')"],
    SMALL,
  ),
  made(
    'MY_NO_PRIMARY_KEY',
    'warning',
    '`shop`.`my ``notes`',
    [
      'create table `my ``notes` (id int, `per``son` int not null, day date, unique (id), unique (`per``son`, day))',
    ],
    SMALL,
  ),
  made(
    'MY_NO_PRIMARY_KEY',
    'warning',
    '`shop`.`tags`',
    ['create table tags (number int auto_increment, label int, key (number, label))'],
    SMALL,
  ),
  made('MY_AUTOINC_EXHAUSTION', 'warning', '`shop`.`coupons`', [
    'create table coupons (id smallint unsigned auto_increment primary key) auto_increment = 56000',
  ]),
  ...(ON_MYSQL
    ? []
    : [
        made('MY_AUTOINC_EXHAUSTION', 'warning', '`shop`.`invoice_number`', [
          'create sequence invoice_number maxvalue 1000 nocache',
          'do setval(invoice_number, 900)',
          'grant select on invoice_number to watcher@localhost',
        ]),
      ]),
  made('MY_AUTOINC_EXHAUSTION', 'critical', '`shop`.`visits`', [
    'create table visits (id int primary key auto_increment) auto_increment = 2100000000',
  ]),
  made(
    'MY_NON_INNODB',
    'warning',
    '`shop`.`log`',
    ['create table log (id int primary key, body text) engine = MyISAM'],
    SMALL,
  ),
  made(
    'MY_REDUNDANT_INDEX',
    'info',
    '`shop`.`lines`.`by order`',
    [
      'create table orders (id int primary key)',
      'create table `lines` (id int primary key, order_id int, place int, key `by order` (order_id), key (order_id, place), foreign key (order_id) references orders (id))',
    ],
    SMALL,
  ),
  made('MY_REDUNDANT_INDEX', 'info', '`shop`.`seats`.`number_2`', [
    'create table seats (id int primary key, number int, unique (number), unique number_2 (number))',
  ]),
  made(
    'MY_UNUSED_INDEX',
    'info',
    '`shop`.`letters`.`day`',
    [
      'create table letters (id int primary key, day date, key (day))',
      `insert into letters select seq, '2026-11-21' + interval seq day from ${numbers(1, 20_000)}`,
      'analyze table letters',
    ],
    { statistics_days: 0, minimum_bytes: 200_000 },
  ),
  made('MY_CHARSET_LEGACY', 'info', '`shop`.`names`', [
    'create table names (id int primary key, name varchar(40), code char(3) character set ascii) character set utf8mb3',
  ]),
  {
    check_id: 'MY_MIXED_COLLATIONS',
    severity: 'info',
    object: '`shop`',
    async provoke(server) {
      await server.run([
        'create table payers (id int primary key, payer_code varchar(20) collate utf8mb4_bin)',
        'create table bills (id int primary key, payer_code varchar(20) collate utf8mb4_unicode_ci)',
      ]);
      return async (remediation) => {
        const look = await server.run(remediation.split(' -- ')[0] ?? '');
        expect(look.map((row) => Object.values(row)[2]).sort()).toEqual(['bills', 'payers']);
        await server.run('alter table bills modify payer_code varchar(20) collate utf8mb4_bin');
      };
    },
  },
  {
    check_id: 'MY_INDEX_GT_DATA',
    severity: 'info',
    object: '`shop`.`pairs`',
    thresholds: { minimum_bytes: 500_000 },
    async provoke(server) {
      await server.run([
        'create table pairs (id int primary key, a int, b int, c int, key ab (a, b), key ba (b, a), key ca (c, a), key bc (b, c))',
        `insert into pairs select seq, seq * 7919 % 20011, seq * 104729 % 20021, seq * 15485863 % 20023 from ${numbers(1, 20_000)}`,
        'analyze table pairs',
      ]);
      return async (remediation) => {
        await server.run(remediation.split(' -- ')[0] ?? '');
        await server.run('drop table pairs');
      };
    },
  },
];
