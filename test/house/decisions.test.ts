import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../docs/decisions');
const pages = readdirSync(FOLDER).filter((name) => name !== 'README.md');
const rows = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ['))
  .map((row) => {
    const [, number = '', file = '', former = ''] =
      /^\| \[(\d{4})\]\(([\w-]+\.md)\) \| \S.* \| ([\d, ]*?) *\|$/.exec(row) ?? [];
    return { row, number, file, former: former.split(', ').filter(Boolean) };
  });

test('the index lists every page once, by the number of its file', () => {
  for (const { row, number, file } of rows) expect(file.slice(0, 4), row).toBe(number);
  expect(rows.map(({ file }) => file).toSorted()).toEqual(pages.toSorted());
});

test('each number has one page; only 0047 was never used', () => {
  const numbers = rows.flatMap(({ number, former }) => [number, ...former]).toSorted();
  const last = Number(numbers.at(-1));
  const all = Array.from({ length: last }, (_, at) => String(at + 1).padStart(4, '0'));
  expect(numbers).toEqual(all.filter((number) => number !== '0047'));
});

test('a page that was folded has a section for each of its decisions', () => {
  for (const { file, former } of rows) {
    const sections = readFileSync(join(FOLDER, file), 'utf8').match(/^## /gm) ?? [];
    // 0019 was replaced as a whole.
    const folded = former.filter((number) => number !== '0019').length;
    if (folded > 0) expect(sections.length, file).toBeGreaterThan(folded);
  }
});
