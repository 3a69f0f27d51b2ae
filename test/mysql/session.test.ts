import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/monitor/limits.ts';
import { diallerOf } from '../../src/monitor/session/dial.ts';
import { connectFailure, refusalOf } from '../../src/monitor/session/failures/connect-failure.ts';
import { openMysqlSession } from '../../src/monitor/session/mysql-session.ts';
import type { Session, Target } from '../../src/monitor/session/session.ts';
import { freePort } from '../contract/free-port.ts';
import { type Bastion, startBastion } from './bastion.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { dialect, ENGINE, ON_MYSQL } from './tested-server.ts';
import { withinSession } from './within-session.ts';

const certificate = (name: string) => join(import.meta.dirname, '../certificates', name);
const authority = readFileSync(certificate('authority.pem'), 'utf8');
const otherAuthority = readFileSync(certificate('receivers-authority.pem'), 'utf8');

let server: MysqlServer;
let bastion: Bastion;
let port: number;

beforeAll(async () => {
  port = await freePort();
  server = await MysqlServer.start({
    'skip-networking': 'OFF',
    'bind-address': '127.0.0.1',
    port: String(port),
    'ssl-cert': certificate('server.pem'),
    'ssl-key': certificate('server.key'),
    'local-infile': 'ON',
    'init-connect': 'set autocommit = 0',
    'sql-mode': 'ANSI_QUOTES,PIPES_AS_CONCAT',
  });
  bastion = await startBastion(port);
  await server.run([
    `create user native@'%' identified by '${PASSWORD}'`,
    `grant all on *.* to native@'%'`,
    `create user bare@'%' identified by '${PASSWORD}'`,
    `create user encrypted@'%' identified by '${PASSWORD}' require ssl`,
    `create user expired@'%' identified by '${PASSWORD}' password expire`,
    `grant select on shop.* to encrypted@'%', expired@'%'`,
    `create user locked@'%' identified by '${PASSWORD}' account lock`,
    'create table orders (id int)',
    'insert into orders values (1)',
  ]);
});
afterAll(async () => {
  bastion?.close();
  await server?.stop();
});

const plainly = (): Target => ({
  engine: ENGINE,
  connectionType: 'direct',
  host: 'localhost',
  port,
  database: 'shop',
  username: 'native',
  password: PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: ON_MYSQL ? readFileSync(join(server.data, 'public_key.pem'), 'utf8') : null,
  tunnel: null,
});

const bySocket = (): Partial<Target> => ({ connectionType: 'unix_socket', host: server.socket });
const withTls = (): Partial<Target> => ({ tls: 'verify-full', caCertificate: authority });

const ATTEMPT = {
  ...({ engine: ENGINE, connectionType: 'direct', tls: 'disable' } as const),
  username: 'native',
  database: 'shop',
};

/** Opens a session like a run, and closes it after `use`. */
function within<T>(
  given: Partial<Target>,
  use: (session: Session) => Promise<T>,
  options?: Parameters<typeof withinSession>[2],
): Promise<T> {
  return withinSession({ ...plainly(), ...given }, use, options);
}

const who = `
  select substring_index(user(), '@', 1) as name, database() as place,
         (select variable_value from ${dialect({ mysql: 'performance', mariadb: 'information' })}_schema.session_status where variable_name = 'Ssl_cipher') <> '' as tls`;

test.each<[string, () => Partial<Target>, { name: string; tls: number }]>([
  ['a socket', bySocket, { name: 'native', tls: 0 }],
  ['TCP without TLS', () => ({}), { name: 'native', tls: 0 }],
  ['TLS and the authority of the connection', withTls, { name: 'native', tls: 1 }],
  [
    'TLS with a certificate of anyone',
    () => ({ tls: 'require', host: '127.0.0.1', passwordExposable: ON_MYSQL }),
    { name: 'native', tls: 1 },
  ],
  [
    'TLS and the authority alone',
    () => ({ ...withTls(), tls: 'verify-ca', host: '127.0.0.1' }),
    { name: 'native', tls: 1 },
  ],
  ['a tunnel', () => bastion.tunnel, { name: 'native', tls: 0 }],
  [
    'TLS through a tunnel',
    () => ({ ...bastion.tunnel, tls: 'require', passwordExposable: ON_MYSQL }),
    { name: 'native', tls: 1 },
  ],
])('logs in by %s', async (_what, given, expected) => {
  expect(await within(given(), (session) => session.read(who))).toEqual([{ ...expected, place: 'shop' }]);
});

test.each<[string, () => Partial<Target>, object]>([
  [
    'a wrong password',
    () => ({ password: 'another' }),
    { kind: 'unauthorized', reason: /refused the login \(1045\)/ },
  ],
  [
    'no TLS where it is required',
    () => ({ username: 'encrypted' }),
    { kind: 'unauthorized', reason: /1045/ },
  ],
  ['an expired password', () => ({ username: 'expired' }), { kind: 'unauthorized', reason: /expired/ }],
  ['a locked login', () => ({ username: 'locked' }), { kind: 'unauthorized', reason: /locked/ }],
  [
    'a database that is not the login’s',
    () => ({ username: 'bare', ...bySocket() }),
    { kind: 'unreachable', reason: /has no access to the database/ },
  ],
  [
    'a database that is not there',
    () => ({ database: 'nowhere' }),
    { kind: 'unreachable', reason: /does not exist/ },
  ],
  [
    'an authority that nobody named',
    () => ({ tls: 'verify-full' }),
    { kind: 'unreachable', reason: /not from a trusted authority/ },
  ],
  [
    'a certificate for another name',
    () => ({ ...withTls(), host: '127.0.0.1' }),
    { kind: 'unreachable', reason: /another host name/ },
  ],
  [
    'that through a tunnel',
    () => ({ ...bastion.tunnel, ...withTls() }),
    { kind: 'unreachable', reason: /another host name/ },
  ],
  [
    'another authority, whatever the name',
    () => ({ tls: 'verify-ca', caCertificate: otherAuthority, host: '127.0.0.1' }),
    { kind: 'unreachable', reason: /not from a trusted authority/ },
  ],
])('%s is reported as such, without a retry', async (_what, given, expected) => {
  const read = (session: Session) => session.read('select 1 as one');
  const error = await within(given(), read).catch((thrown: unknown) => thrown);
  const failure = connectFailure(error, LIMITS.connectMs, { ...ATTEMPT, ...given() });
  const { kind, reason } = expected as { kind: string; reason: RegExp };
  expect(failure).toMatchObject({ kind, final: true, reason: expect.stringMatching(reason) });
  expect(JSON.stringify(failure)).not.toContain(PASSWORD);
});

test('a server without a free connection is saturated', async () => {
  await server.run('set global max_connections = 10');
  const others: Awaited<ReturnType<typeof server.open>>[] = [];
  while (others.length < 10) {
    const session = await server.open('app').catch(() => null); // a session of an earlier test may still be closing
    if (session) others.push(session);
  }
  const watcher = { ...ATTEMPT, ...bySocket(), username: 'watcher' }; // a superuser has one reserved connection more
  const error = await within(watcher, async () => null).catch((thrown: unknown) => thrown);
  await Promise.all(others.map((session) => session.end()));
  await server.run('set global max_connections = 20');
  expect(connectFailure(error, LIMITS.connectMs, watcher)).toMatchObject({ kind: 'saturated', final: true });
});

test.each([
  'insert into orders values (2)',
  'update orders set id = 2',
  'delete from orders',
  'create table other (id int)',
  'drop table orders',
  'alter table orders add name text',
  "load data local infile '/etc/hostname' into table orders",
  'select 1; select 2',
])('refuses "%s", and the session continues', async (statement) => {
  await within({}, async (session) => {
    await expect(session.read(statement)).rejects.toThrow();
    expect(await session.read('select id from orders')).toEqual([{ id: 1 }]);
  });
});

test('a session has its own settings whatever the server’s, and reveals no more than a name', async () => {
  const [readOnly, seconds] = dialect({
    mariadb: ['tx_read_only', 'max_statement_time'],
    mysql: ['transaction_read_only', 'max_execution_time / 1000'],
  });
  const settings = `
    select @@${readOnly} as read_only, @@autocommit as autocommit, @@${seconds} as seconds,
           @@lock_wait_timeout as lock_seconds, @@sql_mode as sql_mode, @@time_zone as time_zone,
           @@character_set_results as charset`;
  const attributes = `
    select attr_name as name, attr_value as value
      from performance_schema.session_connect_attrs
     where processlist_id = connection_id() and attr_name not like '\\_server%'`;
  await within({}, async (session) => {
    expect(await session.read(settings)).toEqual([
      {
        read_only: 1,
        autocommit: 1,
        seconds: 5,
        lock_seconds: 2,
        sql_mode: '',
        time_zone: '+00:00',
        charset: 'utf8mb4',
      },
    ]);
    expect(await session.read(attributes)).toEqual([{ name: 'program_name', value: 'dbvitals' }]);
  });
});

test('values are numbers if those are safe, else text', async () => {
  const values = `
    select 1 as one, 9007199254740991 as safe, 18446744073709551615 as huge, 1.50 as part, 1e3 as many,
           null as nothing, cast('2026-01-02 03:04:05' as datetime) as at, _binary 'ö' as bytes, 'ö' as text,
           json_object('a', 1) as json, b'1' as bit, point(1, 2) is null as no_point, 1 as \`__proto\``;
  expect(await within({}, (session) => session.read(values))).toEqual([
    {
      one: 1,
      safe: 9007199254740991,
      huge: '18446744073709551615',
      part: 1.5,
      many: 1000,
      nothing: null,
      at: '2026-01-02 03:04:05',
      bytes: 'ö',
      text: 'ö',
      json: '{"a": 1}',
      bit: '\x01',
      no_point: 0,
      __proto: 1,
    },
  ]);
});

/** 1,000⁴ rows. */
const RUNAWAY = `
  with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000)
  select count(*) as worked from n a, n b, n c, n d`;

test('the server ends a statement after 5 s, and one that waits for a lock after 2 s', async () => {
  const holder = await server.open('app');
  await holder.query('lock tables orders write');
  const [late, locked] = await within({}, async (session) => [
    // A busy statement: MariaDB sometimes did not wake a sleeping one.
    await session.read(RUNAWAY).catch((error: unknown) => refusalOf(error)),
    await session.read('select id from orders').catch((error: unknown) => refusalOf(error)),
  ]);
  await holder.end();
  expect([late, locked]).toEqual(['timeout', 'locked']);
});

test('a statement without its privilege is denied', async () => {
  const refused = within({ username: 'bare', database: '', ...bySocket() }, (session) =>
    session.read('select count(*) as transactions from information_schema.innodb_trx'),
  );
  expect(refusalOf(await refused.catch((error: unknown) => error))).toBe('denied');
});

test('a server that sends more than the limit of a run is disconnected', async () => {
  const meter = { bytes: 0, statements: 0, milliseconds: 0 };
  const much = within({ ...withTls() }, (session) => session.read("select repeat('x', 3000000) as much"), {
    limits: { ...LIMITS, runBytes: 1_000_000 },
    meter,
  });
  await expect(much).rejects.toThrow('sent too much');
  expect(meter.bytes).toBeLessThan(1_100_000);
});

test('a closed session is gone, and the server counts no aborted client', async () => {
  const text = "show global status like 'Aborted_clients'";
  const gone = "select count(*) = 0 as gone from information_schema.processlist where user = 'native'";
  await server.until(gone); // those of the tests before
  const before = await server.run(text);
  await within({}, (session) => session.read('select 1 as one'));
  await within(withTls(), (session) => session.read('select 1 as one'));
  await server.until(gone);
  expect(await server.run(text)).toEqual(before);
});

test('an aborted session ends at once', async () => {
  const target = plainly();
  const controller = new AbortController();
  const stream = await diallerOf(target, true).dial(target, controller.signal);
  const meter = { bytes: 0, statements: 0, milliseconds: 0 };
  const way = { host: target.host, port: target.port, stream, meter, limits: LIMITS };
  const ends = { connecting: controller.signal, signal: controller.signal };
  const session = await openMysqlSession(target, 'shop', way, ends);
  const began = performance.now();
  setTimeout(() => controller.abort(new Error('called off')), 100);
  await expect(session.read('select sleep(60) as slept')).rejects.toThrow('called off');
  await session.close();
  expect(performance.now() - began).toBeLessThan(30_000);
});
