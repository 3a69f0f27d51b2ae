import { expect, test } from 'vitest';
import { quoted } from './quote.ts';
import { shownText } from './server-texts.ts';

test.each([
  'int(10) unsigned zerofill',
  'int unsigned',
  "enum('a','it''s')",
  'varchar(20) character set latin1 collate latin1_bin',
  'timestamp /* mariadb-5.3 */',
])('a type is shown as it is: %s', (type) => {
  expect(shownText('type', type)).toBe(type);
});

// A server chooses it. Read once for each of its words, the longest that is read would take seconds.
test('what is no type is quoted, whatever its words', () => {
  for (const type of [`int${' unsigned'.repeat(1_000)}!`, `int${' collate a'.repeat(900)}(1)!`, 'int; drop'])
    expect(shownText('type', type)).toBe(quoted(type.slice(0, 1_000)));
});
