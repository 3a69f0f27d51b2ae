import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, normalize } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

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

test('the wrapper hands every argument on as it is, although systemd replaces $NAME in it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-wrapper-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Prints what systemd would be asked to run.
  writeFileSync(join(folder, 'systemd-run'), `#!/bin/sh\nprintf '%s\\0' "$@"\n`, { mode: 0o755 });
  const given = ['check', '--sql', 'select $$a$$, $HOME, $1', '', "it's 100 %", 'a\n\n', '*', '\\$', '-'];
  const output = execFileSync(join(ROOT, 'deploy/dbvitals-as-service'), given, {
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` },
    encoding: 'utf8',
  });
  const asked = output.split('\0').slice(0, -1);
  // What systemd.service(5) says of a dollar sign.
  const run = asked.slice(asked.indexOf('dbvitals', asked.indexOf('--property')) + 1);
  expect(run.map((argument) => argument.replaceAll('$$', '$'))).toEqual(given);
  for (const argument of run) expect(argument.replaceAll('$$', '')).not.toContain('$');
});
