import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SQL_ENGINES } from '../../vocabulary/engines.ts';
import { LONGEST_SQL, readOwnStatement } from './own-statement.ts';

const ON = { postgres: ['postgres'], mysql: ['mysql', 'mariadb'], all: SQL_ENGINES } as const;

test.each<[keyof typeof ON, string, string]>([
  ['all', 'select count(*) as value from orders', 'select count(*) as value from orders'],
  ['all', ' SELECT 1 AS value ;\n; ', 'SELECT 1 AS value'],
  ['all', '(select 1 as value)', '(select 1 as value)'],
  [
    'all',
    'with a as (select 1 as value) select value from a;-- the end',
    'with a as (select 1 as value) select value from a',
  ],
  ['all', "select count(*) as value from t where note = 'drop; into -- for update'", ''],
  ['all', "select count(*) as value from t where note = 'it''s; fine'", ''],
  ['all', 'select substring(name from 1 for 3) as object, 1 as value from t', ''],
  ['all', 'select /* ; into */ 1 as value', ''],
  ['postgres', "select e'\\'; drop' as object, 1 as value", ''],
  ['postgres', 'select $a$; into $b$ $a$ as object, 1 as value', ''],
  ['postgres', 'select "into" as value from "for update"', ''],
  ['postgres', 'select sleep(1) as value', ''],
  ['postgres', 'select sum(size) as value from pg_ls_waldir()', ''],
  ['mysql', 'select "; into \\" ;" as object, 1 as value', ''],
  ['mysql', 'select `into` as value from `for`', ''],
  ['mysql', 'select 1 as value # ; delete', ''],
  ['mysql', 'select 2--1 as value', ''],
])('on %s, it accepts %s', (engines, sql, statement) => {
  for (const engine of ON[engines])
    expect(readOwnStatement(engine, sql)).toEqual({ statement: statement === '' ? sql : statement });
});

test('the texts of other engines hide nothing', () => {
  // A backslash ends no string in PostgreSQL, but does in MySQL; MySQL has no nested comments, and no dollar quotes.
  expect(readOwnStatement('postgres', "select '\\'; drop table a --'")).toEqual({
    problem: 'There are several statements: write one SELECT.',
  });
  expect(readOwnStatement('mysql', 'select 1 as value /* /* */ ; delete from a -- */')).toEqual({
    problem: 'There are several statements: write one SELECT.',
  });
  expect(readOwnStatement('mysql', 'select $$ ; delete from a $$')).toHaveProperty('problem');
});

test('a character that does not show is refused: it hides what the statement does from a reader, or from this reader', () => {
  // MySQL takes no-break spaces for names: "--" in front of one begins no comment there.
  const notCommented =
    "select 1--\u00a0+length(load_file('/etc/passwd'))\nas value from (select 0 as \u00a0) t";
  expect(readOwnStatement('mysql', notCommented)).toEqual({
    problem:
      'The statement has the character U+00A0, which does not show: leave it out, or write it with chr() or char().',
  });
  for (const hidden of [
    '\u202e',
    '\u2066',
    '\u200b',
    '\ufeff',
    '\u2028',
    '\u0085',
    '\u009b',
    '\x1b',
    '\x0b',
    '\x01',
  ])
    for (const engine of SQL_ENGINES)
      for (const sql of [`select 1 as value --${hidden} x`, `select '${hidden}' as object, 1 as value`])
        expect(readOwnStatement(engine, sql)).toHaveProperty('problem', expect.stringContaining('not show'));
  const shown = "select 'a\tb\r\nc \u00e4 \u65e5 \ud83e\udda6' as object,\r\n\t1 as value";
  for (const engine of SQL_ENGINES) expect(readOwnStatement(engine, shown)).toEqual({ statement: shown });
});

test.each<[keyof typeof ON, string, string]>([
  // To PostgreSQL an emoji belongs to a name, so that no text begins at the dollar sign behind it.
  [
    'postgres',
    'select value from (select 1 as \u{1f600}$x$, pg_sleep(9), 2 as \u{1f600}y$x$, 7 as value) t',
    'calls pg_sleep',
  ],
  [
    'postgres',
    'select value from (select 1 as \u0301$x$, pg_sleep(9), 2 as a$x$, 7 as value) t',
    'calls pg_sleep',
  ],
  // It reads texts of two lines as one, with the escapes of the first.
  [
    'postgres',
    "select length(object) as value from (select E'a'\n'b\\' , ' as object, pg_sleep(9), ' from ' as u) t\n-- '",
    'two texts side by side',
  ],
  ['postgres', "select E'a' -- b\n'b\\' , ' as object, pg_sleep(9)\n-- '", 'two texts side by side'],
  // These run the text of a statement.
  ['postgres', "select length(ts_rewrite('a', 'select pg_sleep(9)')) as value", 'calls ts_rewrite'],
  [
    'postgres',
    "select count(*) as value from xpath_table('id', 'a', 'b', '/c', 'true') t",
    'calls xpath_table',
  ],
  // MySQL 9 has texts in dollar signs.
  ['mysql', "select 1 as value, $$'$$, sleep(9) -- '", 'a text in dollar signs'],
  ['mysql', "select 1 as value, $a$'$a$, sleep(9) -- '", 'a text in dollar signs'],
  ['mysql', "select wsrep_sync_wait_upto_gtid('1', 100) as value", 'calls wsrep_sync_wait_upto_gtid'],
])('on %s, it refuses what its server reads differently: %s', (engines, sql, sentence) => {
  for (const engine of ON[engines])
    expect(readOwnStatement(engine, sql)).toEqual({ problem: expect.stringContaining(sentence) });
});

test('names and texts that only look alike are accepted', () => {
  for (const sql of [
    "select 'a' || 'b' as object, 1 as value",
    "select name as object, 1 as value from t where name in ('a', 'b')",
    'select 1 as value, a$b$c from t',
    'select größe as value from straße',
    'select sum(\u{1f600}) as value from t',
  ])
    for (const engine of SQL_ENGINES) expect(readOwnStatement(engine, sql)).toEqual({ statement: sql });
  expect(readOwnStatement('mysql', "select 'a' 'b' as object, 1 as value")).toHaveProperty('statement');
});

test('a statement has a limit, and its reading takes linear time', () => {
  expect(readOwnStatement('postgres', `select 1 ${' '.repeat(LONGEST_SQL)}`)).toEqual({
    problem: 'The statement is longer than 10,000 characters.',
  });
  const began = performance.now();
  for (const part of ["'", '"', '/*', '$a$', '`', '--', '(', "e'\\", 'a$', "''"])
    for (const engine of SQL_ENGINES)
      readOwnStatement(engine, `select ${part.repeat(LONGEST_SQL / part.length - 4)}`);
  expect(performance.now() - began).toBeLessThan(1_000);
});

test('any text gets a statement that begins as a SELECT, or a sentence', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SQL_ENGINES),
      fc.string({ unit: 'binary', maxLength: 60 }),
      (engine, text) => {
        const read = readOwnStatement(engine, text);
        if ('problem' in read) expect(read.problem).toMatch(/^[A-Z].*\.$/s);
        else expect(read.statement).toMatch(/select|with/i);
      },
    ),
  );
});
