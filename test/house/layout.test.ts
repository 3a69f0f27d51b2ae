import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { LONG_FUNCTIONS, longFunctions } from './long-functions.ts';

const ROOT = join(import.meta.dirname, '../..');
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

test('a file of more than 300 lines says why in its first line, and the median file has fewer than 80', () => {
  const long = FILES.filter(({ path, lines }) => lines > 300 && !path.endsWith('.test.ts'));
  const unexplained = long.filter(
    ({ path }) => !/^(?:\/\/|\/\*\*) ?[A-Z].*[a-z]/.test(readFileSync(join(ROOT, 'src', path), 'utf8')),
  );
  expect(unexplained).toEqual([]);
  const sorted = FILES.map(({ lines }) => lines).toSorted((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(80);
});

test('a function has at most 60 lines, and none of the older ones grows', () => {
  const program = FILES.map(({ path }) => path).filter((path) => !/(?:\.test|-fixture)\.ts$/.test(path));
  const long = program.flatMap((path) => {
    const lines = longFunctions(readFileSync(join(ROOT, 'src', path), 'utf8'), 60);
    return lines.length > 0 ? [[path, lines] as const] : [];
  });
  const grown = long.filter(([path, lines]) => String(lines) !== String(LONG_FUNCTIONS[path]));
  expect(grown, 'split the function, or lower its number in long-functions.ts').toEqual([]);
  const gone = Object.keys(LONG_FUNCTIONS).filter((path) => !long.some(([other]) => other === path));
  expect(gone, 'no longer long: delete it from long-functions.ts').toEqual([]);
});

test('a long function is found, whatever form it has', () => {
  const body = ' {\n  x();\n  y();\n}';
  const forms = [
    `function a()${body}`,
    `const a = () =>${body};`,
    `class A { a()${body} }`,
    `x(async function ()${body})`,
  ];
  for (const form of forms) expect(longFunctions(form, 3), form).toEqual([4]);
  expect(longFunctions(forms[0] ?? '', 4)).toEqual([]);
});

test('a file name occurs once, but for the two engines of a check', () => {
  const twice = groupBy((path) => (path.startsWith('checks/') ? path : basename(path)));
  expect(twice.filter(([, paths]) => paths.length > 1)).toEqual([]);
});

test('ARCHITECTURE.md lists each area once, and names folders that exist', () => {
  const text = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const [, table = ''] = /\| `src\/` \| holds \|\n\| --- \| --- \|\n((?:\|.*\n)+)/.exec(text) ?? [];
  const rows = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => foldersIn(cell)));
  const areas = FILES.map(({ path }) => path.split('/')[0] ?? '').filter((area) => !area.endsWith('.ts'));
  expect(rows.flatMap(([, names = []]) => names).toSorted()).toEqual([...new Set(areas)].toSorted());
  const named = rows.flatMap(([, [area = ''] = [], inside = []]) =>
    inside.map((name) => [area, name] as const),
  );
  const missing = named.filter(
    ([area, name]) =>
      ![`${area}/${name}/`, `${name}/`].some((at) => FILES.some(({ path }) => path.startsWith(at))),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});

/** The folders that a cell of a table names: `cli/doctor/`. */
function foldersIn(cell: string): string[] {
  return [...cell.matchAll(/`([a-z/-]+)\/`/g)].map(([, name = '']) => name);
}
