import { expect, test } from 'vitest';
import { definitionOf } from './alter-table.ts';
import type { Column, TableDetails } from './table-details.ts';

const column = {
  name: 'a',
  type: 'varchar(9)',
  dataType: 'varchar',
  nullable: true,
  extra: '',
  checked: false,
  comment: '',
};

/** The definition of a column of MariaDB with this default, or undefined where it can't be printed. */
const definition = (defaultValue: string) =>
  definitionOf({ ...column, defaultValue } as Column, { mariaDb: true } as TableDetails, {})?.(false);

test.each([
  "'it''s'",
  '1',
  '-1.5e3',
  'current_timestamp()',
  'current_timestamp(6) + interval 1 day',
  "(concat('a', 'b'))",
  "concat(_utf8mb4'a',`b`)",
  '1 + 2 * (3 - 4)',
  "x'41'",
])('a default is printed as it is: %s', (text) => {
  expect(definition(text)).toBe(`\`a\` varchar(9) NULL DEFAULT ${text}`);
});

test.each([
  '1 touch',
  '1 unique',
  "'a' primary key",
  '(1) comment',
  "1 comment 'x'",
  '1, drop primary key',
  '1; drop table t',
  '1 -- x',
  '1 /* x',
  'now() on update now()',
  'now() + interval 1 touch',
])('a default with something behind it is not printed: %s', (text) => {
  expect(definition(text)).toBeUndefined();
});

test('a default that is longer than anybody writes is not printed, and not parsed', () => {
  expect(definition(`${'('.repeat(400)}1${')'.repeat(400)}`)).toMatch(/DEFAULT \(/);
  for (const text of [`${'('.repeat(500_000)}1${')'.repeat(500_000)}`, `1${' '.repeat(200_000)}!`])
    expect(definition(text) === undefined).toBe(true);
});
