import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/monitor/limits.ts';
import { lineOf, measureStatements } from '../../src/monitor/own-checks/own-checks-fixture.ts';
import type { OpenedSession, Target } from '../../src/monitor/session/session.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { ENGINE } from './tested-server.ts';
import { withinSession } from './within-session.ts';

let server: MysqlServer;

beforeAll(async () => {
  server = await MysqlServer.start({ 'secure-file-priv': '', 'log-bin-trust-function-creators': 'ON' });
  await server.run([
    // The worst login that a team could have given to dbvitals.
    `create user everything@localhost identified by '${PASSWORD}'`,
    'grant all on *.* to everything@localhost with grant option',
    `create user nothing@localhost identified by '${PASSWORD}'`,
    `create table orders (id int, email varchar(80))`,
    `insert into orders values (1, 'ada@example.com')`,
    `create function writes() returns int begin insert into orders values (2, ''); return 1; end`,
    `create function waits() returns int begin do sleep(20); return 1; end`,
    `create view sleeping as select sleep(20) as value`,
  ]);
});
afterAll(() => server?.stop());

const target = (given: Partial<Target> = {}): Target => ({
  engine: ENGINE,
  connectionType: 'unix_socket',
  host: server.socket,
  port: 3306,
  database: 'shop',
  username: 'everything',
  password: PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
  ...given,
});

const HOSTILE: [statement: string, reason: string][] = [
  ['select 1 as value; select 2 as value', 'several statements'],
  ['select 1 as value; delete from orders', 'several statements'],
  ['select 1 as value -- ;\n; delete from orders', 'several statements'],
  ['select 1 as value # ;\n; delete from orders', 'several statements'],
  [`select 'a\\'; delete from orders; -- ' as value`, 'its column value is not a number'],
  ['select 1 as value /* ; delete from orders', 'A comment in the statement does not end'],
  ["select 'a as value; delete from orders", 'does not end'],
  ['delete from orders', 'begins with DELETE'],
  ["insert into orders values (3, '')", 'begins with INSERT'],
  ['drop table orders', 'begins with DROP'],
  ['commit', 'begins with COMMIT'],
  ['set session transaction_read_only = 0', 'begins with SET'],
  ['set statement max_statement_time = 0 for select 1 as value', 'begins with SET'],
  ["prepare p from 'delete from orders'", 'begins with PREPARE'],
  ['call writes()', 'begins with CALL'],
  ['do sleep(60)', 'begins with DO'],
  ['handler orders open', 'begins with HANDLER'],
  ["load data infile '/etc/passwd' into table orders", 'begins with LOAD'],
  ['show tables', 'begins with SHOW'],
  ["select id as value into outfile '/tmp/own-check' from orders", 'has INTO'],
  ["select id as value from orders into dumpfile '/tmp/own-check'", 'has INTO'],
  ['select id as value from orders into @value', 'has INTO'],
  ["select 1 as value /*!50000 into outfile '/tmp/own-check' */", 'comment that the server obeys'],
  ["select 1 as value /*M!100000 into outfile '/tmp/own-check' */", 'comment that the server obeys'],
  ['select /*+ SET_VAR(max_execution_time = 0) */ 1 as value', 'comment that the server obeys'],
  ['select id as value from orders for update', 'locks rows'],
  ['select id as value from orders lock in share mode', 'locks rows'],
  ["select load_file('/etc/passwd') as object, 1 as value", 'calls load_file'],
  ['select sleep(60) as value', 'calls sleep'],
  ["select benchmark(1000000000, md5('a')) as value", 'calls benchmark'],
  ["select get_lock('own', 10) as value", 'calls get_lock'],
  ['select next value for numbers as value', 'NEXT VALUE FOR'],
  ['select writes() as value', 'READ ONLY'],
  ['select value from sleeping', 'it took more than 1 s'],
  ['select waits() as value', 'it took more than 1 s'],
  [
    'select count(*) as value from information_schema.columns a, information_schema.columns b, information_schema.columns c',
    'it took more than 1 s',
  ],
  [
    `select concat(repeat('x', 190), 'y') as object, 1 as value, repeat('x', 100000) as more`,
    'larger than 64 KiB',
  ],
  [
    'with recursive n as (select 1 as i union all select i + 1 from n where i < 150) select i as object, i as value from n',
    'more than 100 rows',
  ],
  ['select email as value from orders', 'its column value is not a number'],
  ["select '12' as value", 'its column value is not a number'],
  ['select 1 as value, email from orders', 'value and object only'],
  ['select 1 as total', 'no column named value'],
  ['select 1 as value from orders where id = 9', 'it gives no row'],
  ['select sum(id) as value from orders where id = 9', 'its value is NULL'],
  ['select 1e200 as value', 'larger than 1e30'],
  ["select 'a' as object, 1 as value union all select 'a', 2", 'the same object'],
  ["select extractvalue('<a/>', concat('/', (select email from orders))) + 1 as value", 'error 1105'],
  ['select value from nothing', "doesn't exist"],
  ['', 'is empty'],
];

test('each hostile statement is refused or bounded, with a sentence, even with all privileges', async () => {
  const outcomes = await measureStatements(
    target(),
    HOSTILE.map(([statement]) => statement),
  );
  const lines = outcomes.map(lineOf);
  const unexpected = HOSTILE.map(([statement, reason], place) => ({
    statement,
    reason,
    line: lines[place] ?? '',
    measured: outcomes[place]?.measured,
  })).filter(
    ({ reason, line, measured }) =>
      !line.toLowerCase().includes(reason.toLowerCase()) || !/^[A-Z].*\.$/s.test(line) || measured !== false,
  );
  expect(unexpected).toEqual([]);
  expect(lines.join()).not.toContain('ada@example.com');
  await expectUntouched();
});

test('numbers of every kind are read, and a login without the privilege is told', async () => {
  const numbers = ['1', '-2.50', '1.5e3', 'cast(9007199254740993 as unsigned)', 'true', 'count(*)'];
  const outcomes = await measureStatements(
    target(),
    numbers.map((number) => `select ${number} as value;`),
  );
  expect(outcomes.map((outcome) => outcome?.measured)).toEqual(numbers.map(() => true));
  const [denied] = await measureStatements(target({ username: 'nothing', database: '' }), [
    'select count(*) as value from shop.orders',
  ]);
  expect(denied?.findings[0]?.status).toBe('skipped');
  expect(lineOf(denied)).toMatch(/^Not measured: the login lacks a privilege \(.*denied.*\)\.$/);
});

test('the server writes nothing of a statement that no reading refused', async () => {
  const refused = [
    'select 1 as value; delete from orders',
    'select writes() as value',
    'delete from orders',
    'drop table orders',
    "select 1 as value into outfile '/tmp/own-check'",
    "select 1 as value /*!50000 into outfile '/tmp/own-check' */",
    'set session transaction_read_only = 0',
    "load data infile '/etc/passwd' into table orders",
    'commit',
  ];
  for (const statement of refused) await expect(alone(statement), statement).rejects.toThrow();
  await alone("select get_lock('own', 1) as value");
  await expectUntouched();
});

/** Runs a statement in a session to itself, as an own check does that was not read before. */
function alone(statement: string): Promise<unknown> {
  const limits = { ...LIMITS, statementMs: 1_000, answerMs: 3_000 };
  return withinSession(target(), (session: OpenedSession) => session.readOwn(statement), { limits });
}

async function expectUntouched(): Promise<void> {
  const session = await server.open('root', 'shop');
  try {
    const [rows] = await session.query(
      `select (select count(*) from orders) as orders, is_free_lock('own') as is_free`,
    );
    expect(rows).toEqual([{ orders: 1, is_free: 1 }]);
  } finally {
    await session.end();
  }
  expect(existsSync('/tmp/own-check')).toBe(false);
  expect(existsSync(join(server.data, 'own-check'))).toBe(false);
}
