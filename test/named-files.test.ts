import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAPERS = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/contributing',
  'docs/design',
  'docs/reference',
];
const list = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n');
const files = new Set(list());
const names = new Set([...files].map((path) => basename(path)));

/** As the papers name a file: from the root or from src/, or by its name alone. */
const isThere = (named: string) =>
  named.includes('/') ? files.has(named) || files.has(`src/${named}`) : names.has(named);

test.each(list(...PAPERS).filter((path) => path.endsWith('.md')))('%s names files that exist', (paper) => {
  const text = readFileSync(join(ROOT, paper), 'utf8');
  const named = [...text.matchAll(/`([\w./-]+\.(?:ts|tsx|sql|sh|css))`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});
