import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const FILES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, lines: readFileSync(join(ROOT, 'src', path), 'utf8').split('\n').length - 1 }));
/** One file per check is right, however many checks there are. */
const CATALOGUES = ['checks/postgres', 'checks/mysql'];

function groupBy(keyOf: (path: string) => string): [string, string[]][] {
  return Object.entries(Object.groupBy(FILES, ({ path }) => keyOf(path))).map(([key, files = []]) => [
    key,
    files.map(({ path }) => path),
  ]);
}

test('src/ holds the entry points and folders', () => {
  const inRoot = FILES.map(({ path }) => path).filter((path) => dirname(path) === '.');
  expect(inRoot.toSorted()).toEqual(['dbvitals.ts', 'main.ts']);
});

test('a folder has at most 25 files of its own', () => {
  const full = groupBy(dirname).filter(
    ([folder, files]) => !CATALOGUES.includes(folder) && files.length > 25,
  );
  expect(full).toEqual([]);
});

test('a file has at most 300 lines, and the median file fewer than 80', () => {
  expect(FILES.filter(({ lines }) => lines > 300)).toEqual([]);
  const sorted = FILES.map(({ lines }) => lines).toSorted((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(80);
});

test('a file name occurs once, but for the two engines of a check', () => {
  const twice = groupBy((path) => (path.startsWith('checks/') ? path : basename(path)));
  expect(twice.filter(([, paths]) => paths.length > 1)).toEqual([]);
});
