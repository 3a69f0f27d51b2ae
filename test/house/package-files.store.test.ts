import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
let shipped: Set<string>;

// Packed without scripts, so without built files. The sources contain the file names that the program prints.
beforeAll(() => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const packed: { files: { path: string }[] }[] = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' }),
  );
  shipped = new Set(packed.flatMap(({ files }) => files.map(({ path }) => path)));
});

const tracked = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('the package contains every document that the program and its units name', () => {
  const named = tracked('src/*.ts', 'console/src/*.ts*', 'deploy')
    .filter((path) => !path.includes('.test.'))
    .flatMap((path) => [...textOf(path).matchAll(/\bdocs\/[\w./-]+\.md\b/g)].map(([page]) => page));
  expect(named).toContain('docs/secrets.md');
  expect(named.filter((page) => !shipped.has(page))).toEqual([]);
});

test('no link in a packaged document leads outside the package', () => {
  const pages = [...shipped].filter((path) => path.endsWith('.md'));
  expect(pages).toContain('docs/operate/backup.md');
  const broken = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)/g)]
      .map(([, target = '']) => normalize(join(dirname(page), target)))
      .filter((target) => !isShipped(target.replace(/\/$/, '')))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

function isShipped(target: string): boolean {
  return (
    shipped.has(target) ||
    (existsSync(join(ROOT, target)) && [...shipped].some((path) => path.startsWith(`${target}/`)))
  );
}
