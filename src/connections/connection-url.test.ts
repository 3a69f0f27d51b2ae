import { describe, expect, test } from 'vitest';
import { Rejection } from '../platform/rejection.ts';
import { parseConnectionUrl } from './connection-url.ts';

describe('a connection URL', () => {
  test.each([
    [
      'postgres://ada:s%23%40cret@db.example.com:5433/app',
      ['direct', 'db.example.com', 5433, 'app', 'ada', 's#@cret'],
    ],
    ['postgresql://ada@db', ['direct', 'db', 5432, 'postgres', 'ada', null]],
    ['postgres://ada@[::1]:5433/app', ['direct', '::1', 5433, 'app', 'ada', null]],
    [
      'postgres://ada@one:5433,two,[::1]:7/app',
      ['direct', 'one:5433,two:5432,[::1]:7', 5433, 'app', 'ada', null],
    ],
    ['postgres://ada@%2Frun%2Fpg:5433/app', ['unix_socket', '/run/pg', 5433, 'app', 'ada', null]],
    ['postgres://ada:x@/app?host=/run/pg', ['unix_socket', '/run/pg', 5432, 'app', 'ada', 'x']],
    ['postgres://ada:x@/app?host=%2Frun%2Fpg', ['unix_socket', '/run/pg', 5432, 'app', 'ada', 'x']],
  ])('%s is read', (url, [connection_type, host, port, database, username, password]) => {
    const engine = 'postgres';
    expect(parseConnectionUrl(url)).toEqual({
      engine,
      connection_type,
      host,
      port,
      database,
      username,
      password,
    });
  });

  test.each([
    ['mysql://ada:s%23%40cret@db.example.com', ['mysql', 'direct', 'db.example.com', 3306, '', 's#@cret']],
    ['mariadb://ada@db:3307/', ['mariadb', 'direct', 'db', 3307, '', null]],
    ['mariadb://ada@[::1]/shop', ['mariadb', 'direct', '::1', 3306, 'shop', null]],
    ['mysql://ada@one,two:3307', ['mysql', 'direct', 'one:3306,two:3307', 3306, '', null]],
    ['mysql://ada@%2Frun%2Fmysqld.sock', ['mysql', 'unix_socket', '/run/mysqld.sock', 3306, '', null]],
    ['mysql://ada:x@/?socket=/run/mysqld.sock', ['mysql', 'unix_socket', '/run/mysqld.sock', 3306, '', 'x']],
    ['mariadb://ada@/shop?host=%2Fa%2Fb', ['mariadb', 'unix_socket', '/a/b', 3306, 'shop', null]],
  ])('%s is read', (url, [engine, connection_type, host, port, database, password]) => {
    const username = 'ada';
    expect(parseConnectionUrl(url)).toEqual({
      engine,
      connection_type,
      host,
      port,
      database,
      username,
      password,
    });
  });

  test.each([
    ['postgres://ada@db/app?sslmode=disable', 'disable'],
    ['postgres://ada@db/app?sslmode=require', 'require'],
    ['postgres://ada@one,two/app?sslmode=verify-ca', 'verify-ca'],
    ['postgres://ada@db/?sslmode=verify-full', 'verify-full'],
    ['postgres://ada@/app?host=/run/pg&sslmode=disable', 'disable'],
    ['mysql://ada@db/app?ssl-mode=REQUIRED', 'require'],
    ['mariadb://ada@db?ssl-mode=VERIFY_CA', 'verify-ca'],
    ['mysql://ada@db/?ssl-mode=VERIFY_IDENTITY', 'verify-full'],
    ['mysql://ada@db/?ssl-mode=DISABLED', 'disable'],
    ['postgres://ada@db/app', undefined],
  ])('%s asks for the TLS mode %s', (url, tls) => {
    expect(parseConnectionUrl(url).tls).toBe(tls);
  });

  test.each(['?channel_binding=prefer', '?sslmode=verify-full&channel_binding=disable'])(
    'PostgreSQL: %s asks for nothing more',
    (query) => {
      const [, tls] = /sslmode=([a-z-]+)/.exec(query) ?? [];
      expect(parseConnectionUrl(`postgres://ada@one,two/app${query}`)).toEqual(
        parseConnectionUrl(`postgres://ada@one,two/app${tls ? `?sslmode=${tls}` : ''}`),
      );
      const socket = parseConnectionUrl(`postgres://ada@/app${query}&host=/run/pg`);
      expect(socket).toMatchObject({ host: '/run/pg', connection_type: 'unix_socket' });
    },
  );

  test.each([
    'postgresql://ada:hunter2@ep-x.neon.tech/app?sslmode=require&channel_binding=require',
    'postgres://ada:hunter2@db/app?channel_binding=require',
    'postgres://ada:hunter2@db/app?channel_binding=prefer&channel_binding=require&x=y',
  ])('%s is answered with what to use instead', (url) => {
    expect(() => parseConnectionUrl(url)).toThrow(Rejection);
    expect(() => parseConnectionUrl(url)).toThrow(
      /^Remove channel_binding=require from the URL and use sslmode=verify-full: [^.]*\.$/,
    );
    expect(() => parseConnectionUrl(url)).not.toThrow(/hunter2/);
  });

  test('an IPv6 address may have a zone', () => {
    for (const zone of ['%25eth0', '%eth0']) {
      const read = parseConnectionUrl(`postgres://ada@[fe80::1${zone}]:5433/app`);
      expect([read.host, read.port]).toEqual(['fe80::1%eth0', 5433]);
    }
  });

  test.each([
    ' postgres://ada@db/app\r\n',
    '\ufeffpostgres://ada@db/app',
    '\u200epostgres://ada@db/app\u200b',
    '\u00a0PostgreSQL://ada@db/app',
  ])('%j is read without what nobody sees around it, and its scheme has no case', (url) => {
    expect(parseConnectionUrl(url)).toEqual(parseConnectionUrl('postgres://ada@db/app'));
  });

  test.each([
    ['jdbc:postgresql://db:5432/app?user=ada&password=hunter2', /\(remove "jdbc:"/],
    ['r2dbc:postgresql://ada:hunter2@db:5432/app', /\(remove "r2dbc:"\)\.$/],
    ['"postgres://ada:hunter2@db/app"', /\(remove the quotes\)\.$/],
    ['“postgres://ada:hunter2@db/app”', /\(remove the quotes\)\.$/],
    ['<postgres://ada:hunter2@db/app>', /\(remove the brackets/],
    ['DATABASE_URL=postgres://ada:hunter2@db/app', /the name of the variable/],
    ['export SHOP_DSN="postgres://ada:hunter2@db/app"', /the name of the variable/],
    ["psql 'postgres://ada:hunter2@db/app'", /leave out the command/],
    ['Server=db;User Id=ada;Password=hunter2', /as a URL\)/],
    ['ada:hunter2@tcp(db:3306)/app', /driver of Go/],
    ['pgsql://ada:hunter2@db/app', /name of a driver/],
    ['host=db user=ada password=hunter2', /as a URL/],
    ['postgresql+asyncpg://ada:hunter2@db/app', /name of a driver/],
    ['postgres://ada:hunter2@db/app?connect_timeout=10', /^Remove connect_timeout from the URL/],
    ['postgres://ada:hunter2@db/app?sslmode=require&pgbouncer=true', /^Remove pgbouncer from the URL/],
    ['mysql://ada:hunter2@db/app?useSSL=true', /^Remove useSSL from the URL/],
    ['postgres://ada:hunter2@db/app?sslnegotiation=direct', /^Remove sslnegotiation from the URL/],
    ['postgres://ada:hunter2@db/app?statement_timeout=5', /^Remove statement_timeout from the URL/],
    ['mysql://ada:hunter2@db/app?allowLoadLocalInfile=true', /^Remove allowLoadLocalInfile from the URL/],
    ['postgres://ada:hunter2@db/app?hunter2=x', /^(?!.*hunter2)/],
  ])('%s is answered with what is wrong', (url, sentence) => {
    expect(() => parseConnectionUrl(url)).toThrow(Rejection);
    expect(() => parseConnectionUrl(url)).toThrow(sentence);
    expect(() => parseConnectionUrl(url)).not.toThrow(/hunter2/);
  });

  test.each([
    'hunter2',
    'http://ada:hunter2@db/app',
    'mysqlx://ada:hunter2@db/app',
    'mysql://ada:hunter2@/app',
    'mysql://ada:hunter2@db/app?ssl=true',
    'mysql://ada:hunter2@db/app?ssl-mode=PREFERRED',
    'mysql://ada:hunter2@db/app?sslmode=require',
    'mysql://ada:hunter2@db/?socket=/run/mysqld.sock',
    'mysql://ada:hunter2@/?socket=mysqld.sock',
    'mysql://ada:hunter2@/?socket=/a&host=/b',
    'mariadb://ada:hunter2@one,%2Frun%2Fmysqld.sock',
    'postgres://ada:hunter2@/app',
    'postgres://:hunter2@db/app',
    'postgres://ada:hunter2@db:0/app',
    'postgres://ada:hunter2@db:65536/app',
    'postgres://ada:hunter2@one,/app',
    'postgres://ada:hunter2@one,two,three,four,five/app',
    'postgres://ada:hunter2@one,two:0/app',
    'postgres://ada:hunter2@one,%2Frun%2Fpg/app',
    'postgres://ada:hunter2@db/app?sslmode=prefer',
    'postgres://ada:hunter2@db/app?sslmode=hunter2',
    'postgres://ada:hunter2@db/app?sslmode=constructor',
    'postgres://ada:hunter2@db/app?sslmode=require&sslmode=disable',
    'postgres://ada:hunter2@db/app?sslmode=require&channel_binding=require',
    'postgres://ada:hunter2@db/app?channel_binding=hunter2',
    'postgres://ada:hunter2@db/app?channel_binding=',
    'postgres://ada:hunter2@db/app?channel_binding=prefer&channel_binding=prefer',
    'mysql://ada:hunter2@db/app?channel_binding=prefer',
    'postgres://ada:hunter2@db/app?host=/run/pg',
    'postgres://ada:hunter2@/app?host=db',
    'postgres://ada:hunter2@/app?socket=/run/pg',
    'postgres://ada:hunter2@/app?host=/a&host=/b',
    'postgres://ada:hunter2#@db/app',
    'postgres://ada:hunter2@x@db/app',
    'postgres://ada:hunter2%@db/app',
    'postgres://ada:hunter2%00@db/app',
  ])('%s is rejected without showing the password', (url) => {
    expect(() => parseConnectionUrl(url)).toThrow(Rejection);
    expect(() => parseConnectionUrl(url)).not.toThrow(/hunter2/);
    expect(() => parseConnectionUrl(url)).toThrow(/\.$/);
  });
});

test('a megabyte of blanks takes no longer than another text', () => {
  const blanks = ' '.repeat(1_000_000);
  for (const text of [`postgres://db${blanks}/app`, `${blanks}x${blanks}`, blanks])
    expect(() => parseConnectionUrl(text)).toThrow(Rejection);
  expect(parseConnectionUrl(`${blanks}postgres://ada@db/app${blanks}`)).toMatchObject({ host: 'db' });
});
