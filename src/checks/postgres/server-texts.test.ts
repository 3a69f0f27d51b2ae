import { expect, test } from 'vitest';
import { literal, printableSql, quotedName, trustedRow } from './server-texts.ts';

const of = (text: unknown, column = 'text') => trustedRow({ [column]: text })[column];

test('a printable name or literal stays as it is', () => {
  for (const text of ['public."good one"', `E'a\\\\b'`, '"a""b"', '"ünïcode"', '"👨‍👩‍👧"', 7, null])
    expect(of(text)).toBe(text);
});

test('what does not print is escaped in quoted names', () => {
  expect(of('public."good\none"')).toBe(String.raw`public.U&"good\000Aone"`);
  expect(of('"a\\b\t""c""\u202e"."plain"')).toBe(String.raw`U&"a\\b\0009""c""\202E"."plain"`);
  expect(of('"\u{e0001}"')).toBe(String.raw`U&"\+0E0001"`);
  expect(of('"a\u00a0b"')).toBe(String.raw`U&"a\00A0b"`);
});

test('what does not print is escaped in literals', () => {
  const sessions = (name: string) => `datname = ${name} AND usename IS NULL AND application_name = 'x'`;
  expect(of(sessions(`'a\nb''c'`), 'of_them')).toBe(sessions(String.raw`E'a\u000Ab''c'`));
  expect(of(`E'a\\\\\r'`)).toBe(String.raw`E'a\\\u000D'`);
  expect(of(`'public."a''b\n"'`)).toBe(String.raw`E'public."a''b\u000A"'`);
  expect(of(`'\u{e0001}'`)).toBe(String.raw`E'\U000E0001'`);
});

test('names in a list are escaped too', () => {
  expect(of(['"a\nb"', 'c'])).toEqual([String.raw`U&"a\000Ab"`, 'c']);
});

test.each([
  String.raw`x; \! touch f`,
  String.raw`"x"; \! touch f`,
  String.raw`'a\'' ; \! touch f --'`,
  String.raw`E'a\'' ; \! touch f`,
  'public.x, public.y',
  'x -- y',
  '$$x$$',
  ":'x'",
  'x\0y',
])('a text that is no name and no literal becomes one name: %j', (text) => {
  expect(of(text)).toMatch(/^(?:U&)?"(?:[^"]|"")*"$/);
});

test.each([
  ['needs', 'GRANT SELECT ON ALL TABLES IN SCHEMA a, "b c" TO watcher;'],
  ['of_them', `datname = 'a' AND usename IS NULL AND application_name = E'a\\\\b'`],
  ['enable', 'ALTER TABLE a.b ENABLE TRIGGER "c d"; ALTER TABLE a.b ENABLE TRIGGER e;'],
  ['mend', 'ALTER TABLE a.b ALTER COLUMN c TYPE character varying(20), ALTER COLUMN d TYPE public."T"[];'],
  ['columns', 'a is integer, b is timestamp(3) without time zone; "c" is numeric(10,2), d is bigint'],
  ['routine', 'public.f(integer,character varying,"T"[])'],
  ['version', '18.1 (Debian 18.1-1.pgdg13+2)'],
])('a column may have what belongs into it, and nothing behind it: %s', (column, text) => {
  expect(of(text, column)).toBe(text);
  for (const end of [' x', '; x', String.raw`\! x`, ' -- x']) expect(of(text + end, column)).toMatch(/^"/);
});

test('a literal is read alike whatever the server says of backslashes', () => {
  expect(["a'b", 'a\\b', "a\\'b", 'a\nb'].map(literal)).toEqual([
    "'a''b'",
    String.raw`E'a\\b'`,
    String.raw`E'a\\''b'`,
    String.raw`E'a\u000Ab'`,
  ]);
});

// A server that is not what it seems chooses these texts. Read twice per character or per word, the first would take minutes, and the
// others longer than the universe has been there: the limit of a test is enough.
test('a text is read in linear time, whatever its quotes and words', () => {
  for (const part of ["\\'", '"', '""', "''", "E'", `'"`, "'\\", `"'\\`, "'a'' '"])
    for (const first of ["'", '"', "E'"]) printableSql(`\n${first}${part.repeat(100_000 / part.length)}`);
  const types = (separator: string, name = '') =>
    `${`${name}b year year(3) day day[]${separator}`.repeat(300)}!`;
  const hostile = {
    columns: types(', ', 'a is '),
    mend: `ALTER TABLE a ${types(', ', 'ALTER COLUMN a TYPE ')}`,
    routine: `public.f(${types(',')})`,
  };
  for (const [column, text] of Object.entries(hostile))
    expect(of(text, column) === quotedName(text), column).toBe(true);
});

test.each(["'a\n", '"a\n', "E'a\n\\", `'a' "b\n`, `"b\n" 'a''`])(
  'a quote without an end is none: %j',
  (text) => {
    expect(of(text)).toBe(quotedName(text));
  },
);
