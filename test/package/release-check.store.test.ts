import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-release-'));
  mkdirSync(join(folder, 'test/package'), { recursive: true });
  cpSync(join(ROOT, 'test/package/release-check.ts'), join(folder, 'test/package/release-check.ts'));
  symlinkSync(join(ROOT, 'src'), join(folder, 'src'));
  const manifest = { name: 'dbvitals', version: '1.2.0', type: 'module', scripts };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  commit('## 1.2.0 (2026-02-28)');
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();

const writeHeading = (heading: string) =>
  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    `# Changelog\n\n${heading}\n\nText.\n\n## 1.2.0 (2026-01-31)\n`,
  );

/** Commits the folder with this heading, and records that all stages were green on the commit. */
function commit(heading: string): void {
  writeHeading(heading);
  git('init', '--quiet');
  git('add', '--all');
  git(
    '-c',
    'user.name=T',
    '-c',
    'user.email=t@example.com',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    'Test',
  );
  writeFileSync(join(folder, '.git/dbvitals-release'), `${git('rev-parse', 'HEAD')}\n`);
}

/** Runs a program in a folder whose changelog has this first heading, which is committed and tested. */
function run(heading: string, program: string, ...args: string[]) {
  commit(heading);
  return runAsItIs(program, ...args);
}

function runAsItIs(program: string, ...args: string[]) {
  const { status, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { refused: status !== 0 && /write "## .* \(YYYY-MM-DD\)"/.test(stderr), status, version, stderr };
}

const check = (heading: string) => run(heading, process.execPath, 'test/package/release-check.ts');
const npm = (heading: string, ...args: string[]) => run(heading, 'npm', ...args);

test.each([
  '## Unreleased',
  '## Unreleased: 1.2.0',
  '## 1.2.0',
  '## 1.1.0 (2026-01-31)',
  '## 1.2.0 (2026-13-31)',
])('a changelog that begins with %j blocks the release of 1.2.0', (heading) => {
  expect(check(heading).refused).toBe(true);
});

test('a changelog that begins with the version and its date allows the release', () => {
  expect(check('## 1.2.0 (2026-02-28)').status).toBe(0);
});

test('a table of minor versions of PostgreSQL that is out of date blocks the release', () => {
  const { status, stderr } = check('## 1.2.0 (2099-01-31)');
  expect(status).toBe(1);
  expect(stderr).toMatch(/^PostgreSQL planned new minor releases for \d{4}-\d\d-\d\d: bring the table /);
});

test('a release is blocked until all stages were green on this commit', () => {
  const checkAgain = () => runAsItIs(process.execPath, 'test/package/release-check.ts');
  expect(checkAgain().status).toBe(0);
  writeFileSync(join(folder, 'src.ts'), 'export {};\n');
  git('add', '--all');
  expect(checkAgain()).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^Since .* in src\.ts: run it again\.$/m),
  });
  commit('## 1.2.0 (2026-02-28)');
  expect(checkAgain().status).toBe(0);
  rmSync(join(folder, '.git/dbvitals-release'));
  expect(checkAgain()).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^Nothing is known of a green /m),
  });
});

test('the version that npm sets after the tests does not count as a change', () => {
  commit('## 1.3.0 (2026-02-28)');
  const path = join(folder, 'package.json');
  const changed = readFileSync(path, 'utf8').replace('"version": "1.2.0"', '"version": "1.3.0"');
  writeFileSync(path, changed);
  expect(runAsItIs(process.execPath, 'test/package/release-check.ts').status).toBe(0);
  writeFileSync(path, changed.replace('"dbvitals"', '"dbvitals-fork"'));
  expect(runAsItIs(process.execPath, 'test/package/release-check.ts').status).toBe(1);
});

test('npm version is blocked before it changes anything, based on the new version', () => {
  const raise = ['version', '1.3.0', '--no-git-tag-version'];
  expect(npm('## Unreleased', ...raise)).toMatchObject({ refused: true, version: '1.2.0' });
  expect(npm('## 1.2.0 (2026-02-28)', ...raise)).toMatchObject({ refused: true, version: '1.2.0' });
  expect(npm('## 1.3.0 (2026-02-28)', ...raise)).toMatchObject({ status: 0, version: '1.3.0' });
});

test('npm publish checks the changelog too', () => {
  expect(npm('## Unreleased', 'publish', '--dry-run').refused).toBe(true);
});
