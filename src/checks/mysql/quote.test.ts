import { expect, test } from 'vitest';
import { exactly, printable, quoted, stringLiteral } from './quote.ts';

const PREPARED = 'PREPARE dbvitals FROM @dbvitals; EXECUTE dbvitals; DEALLOCATE PREPARE dbvitals;';
const hex = (text: string) => `0x${Buffer.from(text).toString('hex')}`;

test('an exact text is a binary literal, with and without backslash escapes', () => {
  expect([exactly('app'), exactly('')]).toEqual(["CAST('app' AS BINARY)", "CAST('' AS BINARY)"]);
  expect(["o'ne", 'a\\', 'größe', 'a\tb'].map(exactly)).toEqual(["o'ne", 'a\\', 'größe', 'a\tb'].map(hex));
});

test.each(['orders', 'Größe', 'a`b', "o'ne", 'a\\', '中文', 'a b'])('%j prints as it is', (name) => {
  const statement = `DROP TABLE ${quoted('shop', name)};`;
  expect(printable(statement)).toBe(statement);
});

test.each(['a\nb', 'a\tb', 'a\rb', 'a\x01b', 'a\u202eb', 'a\u2028b', '\ufeffa'])(
  '%j is prepared from its bytes',
  (name) => {
    const statement = `DROP TABLE ${quoted('shop', name)};`;
    expect(printable(statement)).toBe(`SET NAMES utf8mb4; SET @dbvitals = ${hex(statement)}; ${PREPARED}`);
  },
);

test('a statement with a string literal depends on NO_BACKSLASH_ESCAPES', () => {
  const start = (name: string) =>
    ([false, true] as const).map((plain) => `START REPLICA ${stringLiteral(name, plain)};`);
  const [escaped = '', plain = ''] = start('a\\b');
  expect([escaped, plain]).toEqual(["START REPLICA 'a\\\\b';", "START REPLICA 'a\\b';"]);
  expect(printable(escaped, plain)).toBe(
    `SET NAMES utf8mb4; SET @dbvitals = IF(FIND_IN_SET('NO_BACKSLASH_ESCAPES', @@sql_mode), ${hex(plain)}, ${hex(escaped)}); ${PREPARED}`,
  );
  expect(start("o'ne").map((each) => printable(each))).toEqual(Array(2).fill("START REPLICA 'o''ne';"));
});
