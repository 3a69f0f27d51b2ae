import { expect, test } from 'vitest';
import { redactText } from './redact-text.ts';

const SECRET = /hunter|4242|4[.]5/;

test.each([
  ['select * from t where id = $1 and name = $2', 'select * from t where id = $1 and name = $2'],
  [`copy (select 'hunter2', 4242) to stdout`, 'copy (select ?, ?) to stdout'],
  [`do $$ begin perform 'hunter2'; end $$; select $1`, 'do ?; select $1'],
  [`do $a$ x $$ hunter $$ $a$ language plpgsql`, 'do ? language plpgsql'],
  [
    `create view v as select E'a\\'hunter2' as x, t1.c2 from t1`,
    'create view v as select ? as x, t1.c2 from t1',
  ],
  [`select U&'hunter' uescape '!', N'hunter', x'4242', B'1'`, 'select ? uescape ?, ?, ?, ?'],
  [`select 'it''s hunter2' || 'b'`, 'select ? || ?'],
  [`select "hunter's" from "a""b"`, 'select "hunter\'s" from "a""b"'],
  ['select 1 -- hunter2\n from t', 'select ?  \n from t'],
  ['select /* a /* hunter */ hunter */ 4.5e-10, -0x4242, .5', 'select   ?, -?, ?'],
  [`comment on table t is 'hunter`, 'comment on table t is ?'],
  [`do $body$ hunter`, 'do ?'],
  ['do $hunt', 'do ?'],
  ['select 1 /* hunter', 'select ?  '],
  [`select 'a\\' hunter2 ' || 'b'`, 'select ?'],
  [`select E'hunter\\`, 'select ?'],
  ['-- a\r$a$\n hunter $a$', ' \r?'],
  [`select 1 as \u{1f600}$a$, ' $a$ hunter'`, 'select ? as \u{1f600}$a$, ?'],
  [`select 1 as \u00a0$a$, ' $a$ hunter'`, 'select ? as \u00a0$a$, ?'],
  ['set app.token = hunter2', 'set app.token = ?'],
  ['/* x */ SET LOCAL "app.token" TO hunter2, "hunter"', '  SET LOCAL "app.token" TO ?'],
  ['set search_path to hunter', 'set search_path to ?'],
  ['alter role r in database d set app.token=hunter2', 'alter role r in database d set app.token=?'],
  [
    'create function f() returns int set app.a = hunter as $$ x $$',
    'create function f() returns int set app.a = ?',
  ],
  ['update t set a = b where c = 4242', 'update t set a = b where c = ?'],
  ['alter table t set (fillfactor = 42)', 'alter table t set (fillfactor = ?)'],
  ['select 0b101010, 0o4242, 0B1, 0x_4242, 4_242', 'select ?, ?, ?, ?, ?'],
])('PostgreSQL: %j', (text, redacted) => {
  expect(redactText('postgres', text)).toBe(redacted);
});

test.each([
  ['SELECT * FROM `t` WHERE `id` = ?', 'SELECT * FROM `t` WHERE `id` = ?'],
  ['SELECT "hunter2", \'hunter2\' # hunter\nFROM t', 'SELECT ?, ?  \nFROM t'],
  [`SELECT _utf8mb4'hunter', _latin1 "hunter", N'hunter', x'4242'`, 'SELECT ?, ?, ?, ?'],
  ['SELECT /*! hunter */ 4242 -- hunter', 'SELECT   ?  '],
  ['SELECT "it\\"s hunter", 1', 'SELECT ?'],
  ['SELECT `hunter 4242`, @x, @@y', 'SELECT `hunter 4242`, @x, @@y'],
  ["SET @a = 'hunter", 'SET @a = ?'],
  ['SELECT "hunter', 'SELECT ?'],
  ['SELECT /* a /* b */ c', 'SELECT   c'],
  ['SET GLOBAL app = hunter, b = hunter', 'SET GLOBAL app = ?'],
  ['SET @a := hunter', 'SET @a := ?'],
  ['SET PASSWORD = hunter', 'SET PASSWORD = ?'],
  [`SELECT \u{1f600}'hunter'`, 'SELECT \u{1f600}?'],
  ['SELECT 0b101010, 0xfe4242', 'SELECT ?, ?'],
  [`SELECT 5--'a\nhunter', 5--4242`, 'SELECT ?--?, ?--?'],
  [`SELECT 1 --\thunter`, 'SELECT ?  '],
  [`SELECT /*!50001 'a */ hunter' */ FROM t`, 'SELECT  '],
  ["SELECT /*!99999 don't */ 'hunter'", 'SELECT  '],
  ['SELECT /*M! a /* b */ hunter */ c', 'SELECT   c'],
])('MySQL: %j', (text, redacted) => {
  expect(redactText('mysql', text)).toBe(redacted);
});

test('a text that is cut off anywhere shows no value', () => {
  const whole = `copy (select 'hunter2', E'\\'hunter', $q$hunter$q$, 4242 /* hunter */, U&'hunter' -- hunter\n) to 'hunter'`;
  for (let length = 0; length <= whole.length; length++) {
    expect(redactText('postgres', whole.slice(0, length))).not.toMatch(SECRET);
    expect(redactText('mariadb', whole.slice(0, length).replaceAll('$q$', '"'))).not.toMatch(SECRET);
  }
});

test('a long text takes no long time', () => {
  const text = `${"'a".repeat(2_000)}${'/*'.repeat(2_000)}${'$a$'.repeat(2_000)}`;
  expect(redactText('postgres', text).length).toBeLessThan(text.length);
  for (const part of [' set ', ' set a', ' set session ', ' set "', '  '])
    expect(redactText('postgres', `alter x set${part.repeat(4_000 / part.length)}`)).toContain('set');
});
