import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { version } from '../platform/package-root.ts';
import { buildVersion, describeCheckout } from './build-version.ts';

/** A folder with sources, and functions that write a file and run git in it. */
function makeSources() {
  const root = mkdtempSync(join(tmpdir(), 'dbvitals-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'src'));
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);
  const git = (...args: string[]) => {
    const person = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    return execFileSync('git', [...person, ...args], { cwd: root, encoding: 'utf8' }).trim();
  };
  write('package.json', '{}');
  write('src/one.ts', 'export const one = 1;\n');
  write('.gitignore', 'ignored\n');
  return { root, write, git, describe: () => describeCheckout(root, '1.2.3') };
}

test('a checkout is named by its commit, and each change to it changes the name', () => {
  const { root, write, git, describe } = makeSources();
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'First');
  const clean = describe();
  expect(clean).toBe(`1.2.3+${git('rev-parse', 'HEAD').slice(0, 12)}`);
  write('ignored', 'a store or a log');
  expect(describe()).toBe(clean);

  const names = [clean];
  const step = (change: () => void) => {
    change();
    names.push(describe());
  };
  step(() => write('src/one.ts', 'export const one = 2;\n'));
  step(() => write('src/one.ts', 'export const one = 3;\n')); // changed again
  step(() => git('add', '--all')); // only staged: the same sources
  step(() => write('src/two words.ts', 'export {};\n'));
  step(() => write('src/two words.ts', 'export const two = 2;\n'));
  step(() => chmodSync(join(root, 'package.json'), 0o755));
  step(() => rmSync(join(root, 'src/one.ts')));
  expect(names[3]).toBe(names[2]);
  expect(new Set(names).size).toBe(names.length - 1);
  for (const name of names.slice(1))
    expect(name).toMatch(new RegExp(`^1\\.2\\.3\\+${clean.slice(6)}\\.[0-9a-f]{8}$`));

  git('add', '--all');
  git('commit', '--quiet', '--message', 'Second');
  expect(describe()).toBe(`1.2.3+${git('rev-parse', 'HEAD').slice(0, 12)}`);
});

test('sources without a repository of their own are named by their content', () => {
  const { root, write, git, describe } = makeSources();
  const first = describe();
  expect(first).toMatch(/^1\.2\.3\+src\.[0-9a-f]{12}$/);
  expect(describe()).toBe(first);
  write('src/one.ts', 'export const one = 2;\n');
  expect(describe()).not.toBe(first);
  // Unpacked within somebody's repository: that one's commit says nothing about them.
  git('init', '--quiet');
  mkdirSync(join(root, 'below/src'), { recursive: true });
  write('below/src/one.ts', '');
  expect(describeCheckout(join(root, 'below'), '1.2.3')).toMatch(/\+src\./);
});

test('this program names its build', () => {
  expect(buildVersion().startsWith(`${version}+`)).toBe(true);
});
