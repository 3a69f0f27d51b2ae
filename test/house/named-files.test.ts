import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAPERS = ['*.md', 'docs/{contributing,design,reference}/*.md'];
const SOURCES = ['*.ts', '{src,test,client,console/src,bench,migrations}/**/*.{ts,tsx,sql,sh,css}'];
const find = (patterns: string[]) =>
  globSync(patterns, { cwd: ROOT, exclude: (path) => path.includes('node_modules') });
const names = new Set(find(SOURCES).map((path) => basename(path)));

/** The forms of a file name in documents: from the root, from src/, or only the name. */
const isThere = (named: string) =>
  named.includes('/')
    ? ['', 'src'].some((folder) => existsSync(join(ROOT, folder, named)))
    : names.has(named);

// Files in the changelog may have been renamed since.
test.each(find(PAPERS).filter((path) => path !== 'CHANGELOG.md'))('%s names files that exist', (paper) => {
  const text = readFileSync(join(ROOT, paper), 'utf8');
  const named = [...text.matchAll(/`([\w./-]+\.(?:ts|tsx|sql|sh|css))`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test.each(find(PAPERS))('%s names tests that exist in its commands', (paper) => {
  const text = readFileSync(join(ROOT, paper), 'utf8');
  const named = [...text.matchAll(/`npx vitest run (?!--)([\w./-]*\/[\w./-]*)/g)].map(
    ([, path = '']) => path,
  );
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
