import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../docs/decisions');
const decisions = readdirSync(FOLDER).filter((name) => name !== 'README.md');
const rows = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ['));

test('the index lists every decision once, ordered by number', () => {
  const listed = rows.map((row) => {
    const [, number, file] = /^\| \[(\d{4})\]\(([\w-]+\.md)\) \| \S/.exec(row) ?? [];
    expect(file?.slice(0, 4), row).toBe(number);
    return file;
  });
  expect(listed).toEqual(decisions.toSorted());
});

test('each decision has a status and is superseded only by a later one', () => {
  for (const row of rows) {
    const [, status = ''] = /\| ([^|]+) \|$/.exec(row) ?? [];
    const [, links] = /^(?:partly )?superseded by (\[.*\))$/.exec(status) ?? [];
    if (links === undefined) expect(status, row).toBe('accepted');
    else
      for (const link of links.split(', ')) {
        const [, number = '', file = ''] = /^\[(\d{4})\]\((.*)\)$/.exec(link) ?? [];
        expect(decisions, row).toContain(file);
        expect(file.slice(0, 4), row).toBe(number);
        expect(Number(number), row).toBeGreaterThan(Number(row.slice(3, 7)));
      }
  }
});

test('no number is missing but 0047, which was never used', () => {
  const last = Number(decisions.toSorted().at(-1)?.slice(0, 4));
  const numbers = Array.from({ length: last }, (_, at) => String(at + 1).padStart(4, '0'));
  const used = decisions.map((name) => name.slice(0, 4)).toSorted();
  expect(used).toEqual(numbers.filter((number) => number !== '0047'));
});
